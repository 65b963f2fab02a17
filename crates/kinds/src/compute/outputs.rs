//! Outputs: CSV, arrays, records, or back to the caller.

use super::{ComputeTask, OutputForm, bound::Extent};
use hushwire_block::Wiped;
use hushwire_compute::Scalar;
use hushwire_fault::code;
use hushwire_session::{Fault, FromDisk, Member, MemberConfig, NewFile, OutputPlace, as_text, suggest};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fmt::{self, Write as _},
    io::Write,
};

/// An output as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// The elements' type, as `u64`.
    pub scalar: String,
    /// The lengths of its axes.
    pub lengths: Vec<usize>,
    /// The elements, the last axis fastest.
    pub elements: Vec<String>,
}

impl Shown {
    /// Takes elements from records that lie one after the other.
    #[must_use]
    pub fn new(scalar: Scalar, lengths: &[usize], records: &[u8]) -> Self {
        let elements = records.chunks_exact(scalar.record()).map(|record| scalar.show(record));
        Self { scalar: scalar.to_string(), lengths: lengths.to_vec(), elements: elements.collect() }
    }

    /// The output as JSON: truth values and integers of up to 64 bits as such, everything else as
    /// text, in lists nested like its axes.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        let scalar = Scalar::parse(&self.scalar);
        let value = |text: &String| match scalar {
            Some(Scalar::Bool) => serde_json::Value::from(text == "true"),
            Some(Scalar::Int { bits: ..=64, .. } | Scalar::Place) => {
                serde_json::from_str(text).unwrap_or_else(|_| text.clone().into())
            }
            _ => text.clone().into(),
        };
        fn lists(
            lengths: &[usize],
            elements: &mut dyn Iterator<Item = serde_json::Value>,
        ) -> serde_json::Value {
            match lengths.split_first() {
                None => elements.next().unwrap_or_default(),
                Some((n, inner)) => (0..*n).map(|_| lists(inner, elements)).collect::<Vec<_>>().into(),
            }
        }
        lists(&self.lengths, &mut self.elements.iter().map(value))
    }

    /// The line that shows the output under its name.
    #[must_use]
    pub fn line(&self, name: &str) -> String {
        format!("{name}={self}\n")
    }

    /// A CSV file with a row for each place of the first axis. Its column is named after the
    /// output. If there are more axes, each of their places has a column, with its number behind
    /// the name.
    #[must_use]
    pub fn csv(&self, name: &str) -> Wiped<String> {
        let columns: usize = self.lengths.iter().skip(1).product();
        let mut text = Wiped::new(String::new());
        for column in 0..columns {
            let comma = if column == 0 { "" } else { "," };
            // Writing to a string does not fail.
            let _ = match self.lengths.len() {
                0 | 1 => write!(text, "{comma}{name}"),
                _ => write!(text, "{comma}{name}_{column}"),
            };
        }
        text.push('\n');
        for (i, element) in self.elements.iter().enumerate() {
            text.push_str(element);
            text.push(if (i + 1) % columns == 0 { '\n' } else { ',' });
        }
        text
    }
}

/// The elements as constants of the text form: `3`, `[1, 2]`, `[[1, 2], [3, 4]]`.
impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn list(f: &mut fmt::Formatter<'_>, lengths: &[usize], elements: &[String]) -> fmt::Result {
            let Some((n, inner)) = lengths.split_first() else {
                return f.write_str(elements.first().map_or("", String::as_str));
            };
            let each = inner.iter().product::<usize>();
            f.write_str("[")?;
            for i in 0..*n {
                f.write_str(if i == 0 { "" } else { ", " })?;
                list(f, inner, &elements[i * each..(i + 1) * each])?;
            }
            f.write_str("]")
        }
        list(f, &self.lengths, &self.elements)
    }
}

/// The result of a computation at one member. Outputs have their places in the computation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Computed {
    /// Outputs for which no file was given.
    pub shown: Vec<(usize, Shown)>,
    /// The records of outputs that the caller wants in memory.
    #[serde(with = "records")]
    pub records: Vec<(usize, Vec<u8>)>,
    /// The numbers of all symbols.
    pub symbols: BTreeMap<String, u64>,
    /// The AND gates of the circuit.
    pub ands: u64,
    /// The preprocessing that came from disk. `None` if this party has no shelf.
    pub from_disk: Option<FromDisk>,
    /// Remarks on this member's own inputs, such as numbers that were rounded.
    #[serde(default)]
    pub remarks: Vec<String>,
}

/// Serializes records as hexadecimal digits between Hushwire's own processes.
mod records {
    use super::{Wiped, as_text};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::sync::Arc;

    #[derive(Serialize, Deserialize)]
    struct SentRecords(usize, #[serde(with = "as_text::bytes")] Arc<Wiped<Vec<u8>>>);

    pub(super) fn serialize<S: Serializer>(all: &[(usize, Vec<u8>)], to: S) -> Result<S::Ok, S::Error> {
        let text = |(j, bytes): &(usize, Vec<u8>)| SentRecords(*j, Arc::new(Wiped::new(bytes.clone())));
        all.iter().map(text).collect::<Vec<_>>().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(usize, Vec<u8>)>, D::Error> {
        let all = Vec::<SentRecords>::deserialize(from)?;
        Ok(all.into_iter().map(|SentRecords(j, bytes)| (j, bytes.to_vec())).collect())
    }
}

/// An output at a recipient.
pub(super) struct Sink {
    name: String,
    to: To,
    /// The extent and the records, once they are known.
    value: Option<(Extent, Wiped<Vec<u8>>)>,
}

/// Where an output goes.
enum To {
    /// To the caller, as text.
    Show,
    /// To the caller, as records.
    Memory,
    /// To no place: the records are dropped.
    Nowhere,
    /// To a file of records or an array.
    Bytes(OutputForm, NewFile),
    /// To a CSV file.
    Csv(NewFile),
}

/// Creates a sink for each output that the member learns, with the output's place.
///
/// # Errors
/// An output of the config is not one that the member learns, or cannot be written to its place.
/// The error comes before anything is connected.
pub(super) fn sinks(task: &ComputeTask, config: &mut MemberConfig) -> Result<Vec<(usize, Sink)>, Fault> {
    let MemberConfig { me, outputs, files, .. } = config;
    let output = |j: usize| &task.computation().outputs()[j];
    let names: Vec<&str> = task.outputs_of(me).map(|j| output(j).name.as_str()).collect();
    if let Some(odd) = outputs.keys().find(|name| !names.contains(&name.as_str())) {
        let cause = format!("{me} does not learn an output called `{odd}`");
        return Err(Fault::new(code::COMPUTATION, "preparing outputs", cause, suggest::remedy(odd, &names)));
    }
    let mut all = vec![];
    for j in task.outputs_of(me) {
        let name = output(j).name.as_str();
        let mut create = |path| files.create(&format!("for output {name}"), path, &task.writer(name), 0o600);
        let to = match outputs.get(name) {
            None | Some(OutputPlace::Show) => To::Show,
            Some(OutputPlace::Memory) => To::Memory,
            Some(OutputPlace::Discard) => To::Nowhere,
            Some(OutputPlace::File(path)) => {
                let scalar = task.computation().node(output(j).value).ty.scalar;
                To::Bytes(OutputForm::of(name, scalar, path)?, create(path)?)
            }
            Some(OutputPlace::Csv(path)) => To::Csv(create(path)?),
            Some(OutputPlace::HexFile(_) | OutputPlace::Unnamed) => {
                let remedy = "write { csv = \"…\" } or { file = \"…\" }";
                let cause = "a computation gives no digits";
                return Err(Fault::new(code::COMPUTATION, format!("preparing output {name}"), cause, remedy));
            }
        };
        all.push((j, Sink { name: name.to_owned(), to, value: None }));
    }
    Ok(all)
}

impl Sink {
    /// A sink for each output that a member learns. The records stay in memory until they are
    /// taken.
    pub(super) fn none(task: &ComputeTask, me: &Member) -> Vec<(usize, Self)> {
        let kept = || Self { name: String::new(), to: To::Nowhere, value: None };
        task.outputs_of(me).map(|j| (j, kept())).collect()
    }

    /// Takes the records, once they are known.
    pub(super) fn put(&mut self, extent: &Extent, records: Wiped<Vec<u8>>) {
        self.value = Some((extent.clone(), records));
    }

    /// The records, once they are known.
    #[cfg(any(feature = "nn", feature = "sql"))]
    pub(super) fn records(&self) -> Option<(&Extent, &[u8])> {
        self.value.as_ref().map(|(extent, records)| (extent, &records[..]))
    }

    /// Writes the file to disk under a temporary name.
    pub(super) fn prepare(&self) -> Result<(), Fault> {
        let (extent, records) = self.value.as_ref().ok_or_else(not_computed)?;
        let write = |file: &NewFile, bytes: &[u8]| {
            file.writer()?.write_all(bytes).map_err(|e| file.error(&e))?;
            file.sync()
        };
        match &self.to {
            To::Show | To::Memory | To::Nowhere => Ok(()),
            To::Bytes(form, file) => write(file, &form.bytes(extent.scalar, &extent.lengths, records)),
            To::Csv(file) => {
                let shown = Shown::new(extent.scalar, &extent.lengths, records);
                write(file, shown.csv(&self.name).as_bytes())
            }
        }
    }

    /// Gives the file its final name, or the caller the value.
    pub(super) fn commit(self, j: usize, learnt: &mut Computed) -> Result<(), Fault> {
        match (self.to, self.value) {
            (To::Show, Some((extent, records))) => {
                learnt.shown.push((j, Shown::new(extent.scalar, &extent.lengths, &records)));
            }
            (To::Memory, Some((_, records))) => learnt.records.push((j, records.to_vec())),
            (To::Bytes(_, file) | To::Csv(file), _) => file.commit()?,
            (To::Nowhere, _) => {}
            (To::Show | To::Memory, None) => return Err(not_computed()),
        }
        Ok(())
    }
}

fn not_computed() -> Fault {
    Fault::internal("writing outputs", "an output was not computed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_output_of_any_rank_is_shown_as_text_json_and_csv() {
        let wide = Scalar::unsigned(128);
        for (scalar, lengths, records, text, json, csv) in [
            (Scalar::Bool, &[][..], &[1][..], "true", json!(true), "t\ntrue\n"),
            (Scalar::signed(8), &[2], &[1, 255], "[1, -1]", json!([1, -1]), "t\n1\n-1\n"),
            (Scalar::signed(8), &[1, 2], &[1, 2], "[[1, 2]]", json!([[1, 2]]), "t_0,t_1\n1,2\n"),
            (
                wide,
                &[1],
                &[0xff; 16],
                &format!("[{}]", u128::MAX),
                json!([u128::MAX.to_string()]),
                &format!("t\n{}\n", u128::MAX),
            ),
            (Scalar::Bool, &[0], &[], "[]", json!([]), "t\n"),
            (Scalar::Bool, &[0, 2], &[], "[]", json!([]), "t_0,t_1\n"),
            (Scalar::Bool, &[2, 0], &[], "[[], []]", json!([[], []]), "\n"),
        ] {
            let shown = Shown::new(scalar, lengths, records);
            assert_eq!(
                (shown.to_string().as_str(), &shown.json(), shown.csv("t").as_str()),
                (text, &json, csv)
            );
        }
    }

    #[test]
    fn records_are_digits_between_processes() {
        let computed = Computed { records: vec![(3, vec![0, 0xff])], ..Computed::default() };
        let sent = serde_json::to_value(&computed).expect("text");
        assert_eq!(sent["records"], json!([[3, "00ff"]]));
        assert_eq!(serde_json::from_value::<Computed>(sent).expect("the same"), computed);
    }
}
