//! Where the simulated party's program is.

use crate::{Cause, HdlError};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

/// The variable that names the folder with the program.
pub const ENV: &str = "HUSHWIRE_HDL";
/// The program's name.
pub const PROGRAM: &str = "party-sim";

/// The program: in the folder that [`ENV`] names; without it, in `hdl` beside the directory of the running program, or
/// in `target/hdl` below the current directory. It gets a party's keys: the current directory, which may be anybody's,
/// comes last.
///
/// # Errors
/// [`Cause::Missing`] with every path that was tried.
pub fn find() -> Result<PathBuf, HdlError> {
    find_in(std::env::var_os(ENV), std::env::current_exe().ok().as_deref())
}

fn find_in(named: Option<OsString>, exe: Option<&Path>) -> Result<PathBuf, HdlError> {
    let folders = match named.filter(|name| !name.is_empty()) {
        Some(folder) => vec![PathBuf::from(folder)],
        None => {
            let beside = exe.and_then(|exe| Some(exe.parent()?.parent()?.join("hdl")));
            beside.into_iter().chain(["target/hdl".into()]).collect()
        }
    };
    let paths: Vec<PathBuf> = folders.into_iter().map(|folder| folder.join(PROGRAM)).collect();
    if let Some(path) = paths.iter().find(|path| path.is_file()) {
        return Ok(path.clone());
    }
    let tried: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    Err(HdlError {
        device: "the simulated party".into(),
        step: "start",
        cause: Cause::Missing(tried.join(", nor ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_named_folder_is_the_only_one() {
        let place = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
        let exe = place.path().join("target/release/hushwire");
        let [hdl, other] = ["target/hdl", "other"].map(|name| place.path().join(name));
        for folder in [&hdl, &other] {
            fs::create_dir_all(folder).unwrap_or_else(|e| panic!("{e}"));
        }
        fs::write(hdl.join(PROGRAM), "").unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(find_in(None, Some(&exe)), Ok(hdl.join(PROGRAM)), "target/release/… → target/hdl");
        assert_eq!(find_in(Some("".into()), Some(&exe)), Ok(hdl.join(PROGRAM)));
        let missing = find_in(Some(other.clone().into()), Some(&exe)).err().map(|e| e.to_string());
        let missing = missing.unwrap_or_default();
        assert!(missing.contains(&other.join(PROGRAM).display().to_string()), "{missing}");
        assert!(!missing.contains("target/hdl") && missing.contains("run hdl/setup"), "{missing}");
        fs::write(other.join(PROGRAM), "").unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(find_in(Some(other.clone().into()), Some(&exe)), Ok(other.join(PROGRAM)));
    }

    #[test]
    fn without_any_every_place_is_named() {
        let missing = find_in(None, Some(Path::new("/nowhere/target/debug/hushwire"))).err();
        let missing = missing.map(|e| e.to_string()).unwrap_or_default();
        // What stands beside the program first: the current directory may be anybody's.
        let order = "/nowhere/target/hdl/party-sim, nor target/hdl/party-sim;";
        assert!(missing.contains(order) && missing.contains("HUSHWIRE_HDL"), "{missing}");
    }
}
