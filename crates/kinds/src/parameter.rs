//! The parameters of a job: their names, types and ranges are terms, and their values belong to a
//! run.

use hushwire_fault::code;
use hushwire_session::{
    Fault, check_name, suggest,
    toml_file::{Section, TomlValue},
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt};

/// A parameter of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its type, such as `DATE` in a query or `u32` in a computation.
    pub ty: String,
    /// The values that it may have.
    pub range: ParameterRange,
}

/// The values that a parameter may have, as texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ParameterRange {
    /// All values from the first to the second, both included.
    Between(String, String),
    /// These values only.
    In(Vec<String>),
}

/// The text of the term.
impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.range {
            ParameterRange::Between(from, to) => write!(f, "{} from {from} to {to}", self.ty),
            ParameterRange::In(values) => {
                let values: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
                write!(f, "{} in {}", self.ty, values.join(", "))
            }
        }
    }
}

/// Values that a job's members agree on for one run, and that are not terms. All members must give
/// the same ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunValues {
    /// The values of parameters, by name.
    pub parameters: BTreeMap<String, String>,
    /// The version of each data set in this run, as a text, by the data set's name in the job.
    pub data: BTreeMap<String, String>,
}

impl RunValues {
    /// Reads values from a command line, each as `name=value`.
    ///
    /// # Errors
    /// A text does not have this form, or a name comes twice.
    pub fn of_texts(texts: &[String]) -> Result<Self, Fault> {
        let mut parameters = BTreeMap::new();
        let wrong =
            |cause| Err(Fault::usage("--param", cause, "write --param since=2020-01-01, once for each"));
        for text in texts {
            match text.split_once('=') {
                Some((name, value)) if check_name(name).is_ok() => {
                    if parameters.insert(name.to_owned(), value.to_owned()).is_some() {
                        return wrong(format!("{name} has two values"));
                    }
                }
                _ => return wrong(format!("{text:?} names no parameter and value")),
            }
        }
        Ok(Self { parameters, ..Self::default() })
    }

    /// Tests whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parameters.is_empty() && self.data.is_empty()
    }

    /// The data sets in the form on which members agree; `None` if this run names no version.
    pub(crate) fn agreed_data(&self) -> Option<String> {
        let all: Vec<String> = self.data.iter().map(|(name, is)| format!("{name}: {is}")).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }

    /// The values of these parameters in the form on which members agree.
    pub(crate) fn agreed(&self, parameters: &JobParameters) -> Option<String> {
        let value = |(name, _): &(String, Parameter)| {
            let value = self.parameters.get(name).map_or("not given", String::as_str);
            format!("{name} = {value}")
        };
        (!parameters.is_empty()).then(|| parameters.iter().map(value).collect::<Vec<_>>().join(", "))
    }

    /// Checks before a run that all parameters have values.
    pub(crate) fn complete(&self, parameters: &JobParameters) -> Result<(), Fault> {
        let missing = parameters.iter().find(|(name, _)| !self.parameters.contains_key(name));
        missing.map_or(Ok(()), |(name, is)| {
            let cause = format!("parameter {name} has no value, which is a {is}");
            Err(wrong(cause, format!("give one, as with --param {name}=…")))
        })
    }

    /// Checks that values are of existing parameters, and versions of data sets of the job.
    pub(crate) fn known(&self, parameters: &JobParameters, data: &[&str]) -> Result<(), Fault> {
        let names: Vec<&str> = parameters.iter().map(|(name, _)| name.as_str()).collect();
        if let Some(odd) = self.parameters.keys().find(|name| !names.contains(&name.as_str())) {
            let cause = format!("the job has no parameter {odd}");
            let none = "declare it under [parameters] of the job".to_owned();
            return Err(wrong(cause, if names.is_empty() { none } else { suggest::remedy(odd, &names) }));
        }
        if let Some(odd) = self.data.keys().find(|name| !data.contains(&name.as_str())) {
            let cause = format!("the job has no data set {odd}");
            let none = "name one of the job, as data:stays".to_owned();
            return Err(wrong(cause, if data.is_empty() { none } else { suggest::remedy(odd, data) }));
        }
        Ok(())
    }
}

/// A job's parameters in the order of its file.
pub type JobParameters = Vec<(String, Parameter)>;

fn wrong(cause: impl fmt::Display, remedy: impl fmt::Display) -> Fault {
    Fault::new(code::PARAMETER, "planning the job", cause, remedy)
}

impl Parameter {
    /// Reads a parameter of a job file.
    fn of(mut section: Section<'_>) -> Result<Self, Fault> {
        let ty = section.need("type", "type = \"DATE\"")?.text()?.to_owned();
        let [from, to] = ["from", "to"].map(|key| section.take(key).map(|value| value.written()));
        let all = section.take("in").map(TomlValue::list).transpose()?;
        let range = match (from.transpose()?, to.transpose()?, all) {
            (Some(from), Some(to), None) => ParameterRange::Between(from, to),
            (None, None, Some(all)) if !all.is_empty() => {
                ParameterRange::In(all.iter().map(TomlValue::written).collect::<Result<_, _>>()?)
            }
            _ => {
                let remedy = "write from and to, or in = [\"A\", \"B\"]: a range is a term of the job";
                return Err(section.error("the parameter has no range", remedy));
            }
        };
        section.finish()?;
        Ok(Self { ty, range })
    }

    /// The parameters of an ad-hoc query, in order, from texts as for [`RunValues::of_texts`]. Each
    /// has the narrowest type of its value, and a range with only this value.
    ///
    /// # Errors
    /// A text does not have the form `name=value`, or has no type.
    #[cfg(feature = "sql")]
    pub fn of_values(texts: &[String]) -> Result<(RunValues, JobParameters), Fault> {
        let (values, mut parameters) = (RunValues::of_texts(texts)?, vec![]);
        for name in texts.iter().filter_map(|text| Some(text.split_once('=')?.0)) {
            let value = values.parameters[name].clone();
            let mut seen = hushwire_sql::schema::Inferred::default();
            let column = seen.see(&value).and_then(|()| seen.column(name));
            let column = column.map_err(|e| wrong(format!("parameter {name}: {}", e.cause()), e.remedy()))?;
            let ty = if value.is_empty() { "VARCHAR(1)".to_owned() } else { column.ty.to_string() };
            parameters.push((name.to_owned(), Self { ty, range: ParameterRange::In(vec![value]) }));
        }
        Ok((values, parameters))
    }

    /// The value of the run, or a value of the range to plan with if none is given.
    pub(crate) fn value<'p>(&'p self, name: &str, values: &'p RunValues) -> &'p str {
        let first = match &self.range {
            ParameterRange::Between(from, _) => from,
            ParameterRange::In(values) => &values[0],
        };
        values.parameters.get(name).unwrap_or(first)
    }

    /// Reads the value and checks the range. `read` reads a text of the parameter's type.
    pub(crate) fn checked<V: PartialOrd>(
        &self,
        name: &str,
        values: &RunValues,
        read: impl Fn(&str) -> Result<V, String>,
    ) -> Result<V, Fault> {
        let of_range = |text: &String| {
            read(text).map_err(|cause| {
                wrong(
                    format!("the range of parameter {name} has {text:?}: {cause}"),
                    "mend it in the job file",
                )
            })
        };
        let text = self.value(name, values);
        let refused =
            |cause: String| wrong(format!("parameter {name} is {text:?}: {cause}"), self.remedy(name));
        let value = read(text).map_err(refused)?;
        let within = match &self.range {
            ParameterRange::Between(from, to) => {
                let (from, to) = (of_range(from)?, of_range(to)?);
                if from > to {
                    return Err(wrong(
                        format!("the range of parameter {name} is empty"),
                        "mend it in the job file",
                    ));
                }
                from <= value && value <= to
            }
            ParameterRange::In(all) => {
                let all = all.iter().map(of_range).collect::<Result<Vec<V>, Fault>>()?;
                all.contains(&value)
            }
        };
        if within { Ok(value) } else { Err(refused("that is out of its range".to_owned())) }
    }

    fn remedy(&self, name: &str) -> String {
        format!("give {name} as {self}, or agree on another range in the job")
    }
}

/// Reads the table `[parameters]`.
pub(crate) fn read_parameters(
    entries: Vec<(String, TomlValue<'_>)>,
    others: &[&str],
) -> Result<JobParameters, Fault> {
    let one = |(name, value): (String, TomlValue<'_>)| {
        if !value.is_table() {
            let form =
                "write it as in since = { type = \"DATE\", from = \"2020-01-01\", to = \"2026-12-31\" }";
            let (cause, remedy) = match others {
                [] => ("is no parameter".to_owned(), form.to_owned()),
                others => ("is no key here".to_owned(), suggest::remedy(&name, others)),
            };
            return Err(value.error(cause, remedy));
        }
        let good = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !good {
            return Err(value.error("is no parameter's name", "take letters, digits and _, a letter first"));
        }
        Ok((name, Parameter::of(value.section()?)?))
    };
    entries.into_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_held_to_their_range() {
        let read = |text: &str| text.parse::<i64>().map_err(|_| "it is no number".to_owned());
        let between =
            Parameter { ty: "i64".into(), range: ParameterRange::Between("-3".into(), "10".into()) };
        let some = Parameter { ty: "i64".into(), range: ParameterRange::In(vec!["2".into(), "-7".into()]) };
        let of = |parameter: &Parameter, value: &str| {
            let values = RunValues::of_texts(&[format!("k={value}")]).unwrap_or_else(|e| panic!("{e}"));
            parameter.checked("k", &values, read).map_err(|e| e.to_string())
        };
        assert_eq!([of(&between, "-3"), of(&between, "10"), of(&some, "-7")], [Ok(-3), Ok(10), Ok(-7)]);
        for (parameter, value) in [(&between, "-4"), (&between, "11"), (&some, "3")] {
            let error = of(parameter, value).err().unwrap_or_default();
            assert!(
                error.contains(&format!("parameter k is \"{value}\": that is out of its range")),
                "{error}"
            );
        }
        assert!(of(&between, "x").is_err_and(|e| e.contains("it is no number")));
        assert_eq!(between.checked("k", &RunValues::default(), read).ok(), Some(-3), "to plan with");
        assert_eq!(between.to_string(), "i64 from -3 to 10");
        assert_eq!(some.to_string(), "i64 in \"2\", \"-7\"");
        for odd in ["k", "=3", "a b=3"] {
            assert!(RunValues::of_texts(&[odd.to_owned()]).is_err(), "{odd}");
        }
        assert!(RunValues::of_texts(&["k=1".to_owned(), "k=2".to_owned()]).is_err());
        assert_eq!(
            RunValues::of_texts(&["k=a=b".to_owned()]).ok().map(|v| v.parameters["k"].clone()),
            Some("a=b".into())
        );
    }
}
