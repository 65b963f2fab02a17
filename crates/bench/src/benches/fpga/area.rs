//! Counts area by synthesis with yosys' `synth_xilinx` for UltraScale+, module by module, out of
//! context.

use std::{collections::BTreeMap, fmt::Write as _, fs, process::Command};

use super::{
    Area, Origin,
    store::{self, Store},
    tools::{self, HdlPlaces, SYNTHESIS, on_file},
};
use crate::BoxError;

/// A module, and parameters that differ from its defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Top {
    pub name: &'static str,
    pub params: Vec<(&'static str, u32)>,
}

impl Top {
    pub(super) fn new(name: &'static str, params: &[(&'static str, u32)]) -> Self {
        Self { name, params: params.to_vec() }
    }

    fn text(&self) -> String {
        self.params.iter().fold(self.name.to_owned(), |mut text, (key, value)| {
            let _ = write!(text, "-{key}{value}");
            text
        })
    }

    /// Modules are kept separate, because flat synthesis finds no more in this design and takes far
    /// longer. `abc9` counts the cost of multiplexers, a tenth of the LUTs here. It knows the 7
    /// series, whose LUTs are the same.
    fn script(&self) -> String {
        let set = self.params.iter().fold(String::new(), |mut set, (key, value)| {
            let _ = write!(set, " -chparam {key} {value}");
            set
        });
        format!(
            "read_verilog -sv *.sv\nhierarchy -top {}{set}\n\
             synth_xilinx -family xcup -uram -noiopad -noclkbuf -abc9\ntee -q -o stat.txt stat\n",
            self.name
        )
    }
}

/// Runs synthesis, and stores its results.
pub(super) struct Synthesis {
    places: HdlPlaces,
    store: Store,
    /// The checksum of the sources and the tool.
    checksum: String,
}

impl Synthesis {
    /// Looks for the sources and the tool. Without the tool, only stored results are available.
    pub(super) fn new(places: &HdlPlaces) -> Result<Self, BoxError> {
        if let Some(error) = tools::missing(&[SYNTHESIS]) {
            return Err(error);
        }
        let mut version = Command::new("yosys");
        version.arg("-V");
        let version = tools::output(version)?;
        let recipe = Top::new("", &[]).script();
        let more = [version.as_bytes(), recipe.as_bytes()];
        let checksum = store::checksum(&[places.sources.join("rtl")], &["sv"], &more)?;
        Ok(Self { places: places.clone(), store: Store::new(places.out.join("fpga")), checksum })
    }

    /// The area of a module.
    pub(super) fn area(&self, top: &Top) -> Result<(Area, Origin), BoxError> {
        let name = format!("area-{}", top.text());
        let (cells, origin) = self.store.get(&name, &self.checksum, || self.run(top))?;
        Ok((Area::of(&cells)?, origin))
    }

    /// The stored area, if there is one.
    pub(super) fn remembered(&self, top: &Top) -> Option<(Area, Origin)> {
        let cells = self.store.look(&format!("area-{}", top.text()), &self.checksum)?;
        Some((Area::of(&cells).ok()?, Origin::Cache))
    }

    /// Runs in a directory of its own with a copy of the sources, so that they may change meanwhile
    /// and be at any path.
    fn run(&self, top: &Top) -> Result<BTreeMap<String, u64>, BoxError> {
        let dir = tempfile::tempdir().map_err(on_file("creating", &std::env::temp_dir()))?;
        for file in store::files(&[self.places.sources.join("rtl")], &["sv"])? {
            let to = dir.path().join(file.file_name().unwrap_or_default());
            fs::copy(&file, to).map_err(on_file("reading", &file))?;
        }
        let script = dir.path().join("script.ys");
        fs::write(&script, top.script()).map_err(on_file("writing", &script))?;
        let mut yosys = Command::new("yosys");
        yosys.args(["-q", "-s", "script.ys"]).current_dir(dir.path());
        tools::output(yosys)?;
        let stat = dir.path().join("stat.txt");
        let text = fs::read_to_string(&stat).map_err(on_file("reading", &stat))?;
        cells(&text)
    }
}

/// The cells of the whole design, from the output of yosys' `stat`. They are in its last part: the
/// part for the hierarchy if there is one, else that for the only module.
pub(super) fn cells(text: &str) -> Result<BTreeMap<String, u64>, BoxError> {
    let bad = |problem: &str| tools::unusable("yosys", problem);
    let parts: Vec<_> = text.split("\n=== ").collect();
    let whole = parts.iter().find(|part| part.starts_with("design hierarchy ==="));
    let part = match (whole, parts.len()) {
        (Some(part), _) => part,
        (None, 2) => parts[1],
        _ => return Err(bad("it names no whole design")),
    };
    let (_, after) = part.split_once("Number of cells:").ok_or_else(|| bad("it counts no cells"))?;
    let mut lines = after.lines();
    let total: u64 =
        lines.next().and_then(|n| n.trim().parse().ok()).ok_or_else(|| bad("it counts no cells"))?;
    let mut cells = BTreeMap::new();
    for line in lines.take_while(|line| !line.trim().is_empty()) {
        let mut words = line.split_whitespace();
        let (Some(name), Some(count), None) = (words.next(), words.next(), words.next()) else {
            return Err(bad("a line of cells is not a name and a number"));
        };
        cells.insert(name.to_owned(), count.parse().map_err(|_| bad("a count of cells is no number"))?);
    }
    // Modules that were not synthesised would be missing.
    if cells.is_empty() || cells.values().sum::<u64>() != total {
        return Err(bad("its counts do not make up its sum"));
    }
    Ok(cells)
}
