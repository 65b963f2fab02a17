//! A model's inputs and outputs in the form of the command line: files by name, shapes, and values
//! that all members know.

use crate::error::Error;
use clap::Args;
use hushwire::job::{Fault, public_values};
use hushwire_nn::{Assumed, Given, merged};
use std::path::{Path, PathBuf};

/// A file for the first input or output, or for a named one.
#[derive(Clone, Debug)]
pub(crate) struct Named(PathBuf);

impl From<std::ffi::OsString> for Named {
    fn from(text: std::ffi::OsString) -> Self {
        Named(text.into())
    }
}

impl Named {
    /// The whole text as it was given.
    pub(crate) fn whole(&self) -> &Path {
        &self.0
    }

    /// Returns the file, and the place of its name among `names`. A file without a name is for the
    /// first.
    pub(crate) fn of<'a>(&'a self, names: &[String]) -> (usize, &'a Path) {
        // Names may contain the sign themselves.
        let behind = |name: &String| self.0.to_str()?.strip_prefix(&name[..])?.strip_prefix('=');
        let found = names.iter().enumerate().find_map(|(at, name)| Some((at, behind(name)?)));
        found.map_or((0, &self.0), |(at, file)| (at, Path::new(file)))
    }

    /// A name that is none of these, if one was given before a file.
    fn unknown(&self, names: &[String]) -> Option<&str> {
        let (name, _) = self.0.to_str()?.split_once('=')?;
        let is_file = name.contains('/') || self.0.exists();
        (self.of(names).1 == self.0 && !is_file).then_some(name)
    }
}

/// Returns the files in the order of the names; each name has at most one.
///
/// # Errors
/// Two files have the same name.
pub(crate) fn by_name<'a>(
    option: &str,
    all: &'a [Named],
    names: &[String],
) -> Result<Vec<Option<&'a Path>>, Error> {
    let mut files = vec![None; names.len()];
    for named in all {
        if let Some(odd) = named.unknown(names) {
            let names = names.join(", ");
            let what = option.trim_start_matches('-');
            return Err(Error::Usage(format!(
                "{option} {odd}: the model has no {what} {odd}; name one of {names}"
            )));
        }
        let (at, path) = named.of(names);
        let Some(file) = files.get_mut(at) else { continue };
        if file.replace(path).is_some() {
            let cause = format!("{option} has two files for {}", names[at]);
            return Err(Error::Usage(format!(
                "{cause}; write {option} NAME=FILE, with one of {}",
                names.join(", ")
            )));
        }
    }
    Ok(files)
}

/// Like [`by_name`], but every name must have a file.
pub(crate) fn all_by_name<'a>(
    option: &str,
    all: &'a [Named],
    names: &[String],
) -> Result<Vec<&'a Path>, Error> {
    let files = by_name(option, all, names)?;
    let missing: Vec<&str> =
        names.iter().zip(&files).filter(|(_, file)| file.is_none()).map(|(name, _)| &name[..]).collect();
    if missing.is_empty() {
        return Ok(files.into_iter().flatten().collect());
    }
    let names: Vec<String> = missing.iter().map(|name| format!("{option} {name}=FILE")).collect();
    Err(Error::Usage(format!("the model has more inputs: {}; write {}", missing.join(", "), names.join(" "))))
}

/// The lengths of an input.
#[derive(Clone, Debug)]
pub(crate) struct ShapeOf {
    name: String,
    lengths: Vec<usize>,
}

impl std::str::FromStr for ShapeOf {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, lengths) = text.rsplit_once('=').unwrap_or(("", text));
        let lengths = lengths.split(',').map(|n| n.trim().parse::<usize>().ok());
        let lengths = lengths.collect::<Option<Vec<usize>>>();
        let lengths = lengths.ok_or_else(|| "it is no shape; write 1,3,224,224, or NAME=1,128".to_owned())?;
        Ok(ShapeOf { name: name.to_owned(), lengths })
    }
}

/// The part of a model's inputs that all members know.
#[derive(Args, Clone, Default)]
pub(crate) struct PublicArgs {
    /// The value of an input that all members know, as in sr=16000 or sizes=1,2. Repeat it for
    /// others
    #[arg(long, value_name = "NAME=VALUE")]
    public: Vec<String>,
}

impl PublicArgs {
    /// Returns the public values, without shapes.
    pub(crate) fn given(&self) -> Result<Given, Error> {
        let public = public_values(&self.text()).map_err(|e| Error::Usage(e.to_string()))?;
        Ok(Given { public, ..Given::default() })
    }

    /// Returns the values as text for the owner's process.
    pub(crate) fn text(&self) -> String {
        self.public.join(" ")
    }
}

/// The shapes and public values of a model's inputs.
#[derive(Args, Clone)]
pub(crate) struct GivenArgs {
    /// The shape of its input, where the model leaves it open; NAME=N,… for one of several inputs
    #[arg(long, value_name = "[NAME=]N,…")]
    shape: Vec<ShapeOf>,
    #[command(flatten)]
    pub(crate) public: PublicArgs,
}

impl GivenArgs {
    pub(crate) fn given(&self) -> Result<Given, Error> {
        let shapes = self.shape.iter().map(|of| (of.name.clone(), of.lengths.clone())).collect();
        Ok(Given { shapes, ..self.public.given()? })
    }
}

/// Returns the assumptions about a model's inputs as options that set the same.
pub(crate) fn options_of(assumed: &Assumed) -> Vec<String> {
    let shapes = assumed.shapes.iter().map(|(name, lengths)| {
        let lengths: Vec<String> = lengths.iter().map(usize::to_string).collect();
        format!("--shape {name}={}", lengths.join(","))
    });
    let public = assumed.public.iter().map(|(name, value)| format!("--public {name}={value}"));
    shapes.chain(public).collect()
}

/// Combines faults of a model into one error.
pub(crate) fn in_its_way(path: &Path, faults: Vec<Fault>) -> Error {
    if faults.len() > 1 {
        for fault in &faults {
            crate::log::note!("{}: {fault}", path.display());
        }
    }
    merged(faults).within(path.display()).into()
}
