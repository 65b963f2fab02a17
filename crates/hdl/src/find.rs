//! The search for the simulated party's program.

use crate::{Cause, HdlError};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

/// The environment variable that names the folder with the program.
pub const ENV: &str = "HUSHWIRE_HDL";
/// The program's name.
pub const PROGRAM: &str = "party-sim";

/// The path of the program. It is in the folder that [`ENV`] names; if that is not set, in `hdl`
/// beside the directory of the running program. For a program in `target/release`, this is
/// `target/hdl`. The program gets a party's keys, so it is never looked for in the current
/// directory, which anybody may control.
///
/// # Errors
/// [`Cause::Missing`] with the path that was tried.
pub fn find() -> Result<PathBuf, HdlError> {
    find_in(std::env::var_os(ENV), std::env::current_exe().ok().as_deref())
}

fn find_in(named: Option<OsString>, exe: Option<&Path>) -> Result<PathBuf, HdlError> {
    let folder = match named.filter(|name| !name.is_empty()) {
        Some(folder) => Some(PathBuf::from(folder)),
        None => exe.and_then(|exe| Some(exe.parent()?.parent()?.join("hdl"))),
    };
    let path = folder.map(|folder| folder.join(PROGRAM));
    let tried = match path {
        Some(path) if path.is_file() => return Ok(path),
        Some(path) => path.display().to_string(),
        None => {
            format!("hdl/{PROGRAM} beside the directory of this program, of which the system says nothing")
        }
    };
    Err(HdlError { device: "the simulated party".into(), step: "start", cause: Cause::Missing(tried) })
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
    fn without_one_the_place_is_named_and_it_is_never_the_current_directory() {
        let exe = Path::new("/nowhere/target/debug/hushwire");
        for (exe, tried) in [(Some(exe), "/nowhere/target/hdl/party-sim;"), (None, "beside the directory")] {
            let missing = find_in(None, exe).err().map(|e| e.to_string()).unwrap_or_default();
            assert!(missing.contains(tried) && missing.contains("HUSHWIRE_HDL"), "{missing}");
            assert!(!missing.contains(" target/hdl"), "{missing}");
        }
    }
}
