//! Points at which tests kill this process, or let a write fail.
//!
//! In the profile of tests, or with the feature `failpoints`, the variable `HUSHWIRE_FAILPOINTS`
//! holds a list such as `store.after.prepared=kill,blob.fsync=enospc@2`: the point, what happens
//! there, and on which pass (the first by default). With `full` the disk is full from then on; the
//! other actions happen once. `HUSHWIRE_CLOCK` names a file with the milliseconds by which this
//! process's clock is wrong. `HUSHWIRE_SMALL_RESULT` sets the largest result, in bytes, that is
//! kept in the store. In an optimised build without the feature, no point does anything, and the
//! variables are not read.

use std::io;

/// Passes a point.
///
/// # Errors
/// If a test wants the write at this point to fail.
#[cfg(not(any(feature = "failpoints", debug_assertions)))]
#[inline]
pub(crate) fn pass(_point: impl FnOnce() -> String) -> io::Result<()> {
    Ok(())
}

/// LOCAL: bytes of the largest result that is kept in the store with its row.
const SMALL_RESULT: usize = 16 << 10;

/// Bytes of the largest result that is kept in the store with its row.
#[cfg(not(any(feature = "failpoints", debug_assertions)))]
#[inline]
pub(crate) fn small_result() -> usize {
    SMALL_RESULT
}

/// The milliseconds by which a test sets the clock wrong.
#[cfg(not(any(feature = "failpoints", debug_assertions)))]
#[inline]
pub(crate) fn clock_offset() -> i64 {
    0
}

#[cfg(any(feature = "failpoints", debug_assertions))]
pub(crate) use armed::{clock_offset, pass, small_result};

#[cfg(any(feature = "failpoints", debug_assertions))]
mod armed {
    use super::io;
    use std::{
        sync::{Mutex, OnceLock, PoisonError},
        time::Duration,
    };

    struct Armed {
        point: String,
        action: String,
        /// Passes before the action happens.
        left: u32,
    }

    fn armed() -> &'static Mutex<Vec<Armed>> {
        static ARMED: OnceLock<Mutex<Vec<Armed>>> = OnceLock::new();
        ARMED.get_or_init(|| {
            let list = std::env::var("HUSHWIRE_FAILPOINTS").unwrap_or_default();
            let one = |item: &str| {
                let (point, action) = item.split_once('=')?;
                let (action, pass) = action.split_once('@').unwrap_or((action, "1"));
                let left = pass.parse::<u32>().ok()?.checked_sub(1)?;
                Some(Armed { point: point.to_owned(), action: action.to_owned(), left })
            };
            Mutex::new(list.split(',').filter_map(one).collect())
        })
    }

    pub(crate) fn small_result() -> usize {
        static BYTES: OnceLock<usize> = OnceLock::new();
        let asked = || std::env::var("HUSHWIRE_SMALL_RESULT").ok().and_then(|text| text.parse().ok());
        *BYTES.get_or_init(|| asked().unwrap_or(super::SMALL_RESULT))
    }

    pub(crate) fn clock_offset() -> i64 {
        static FILE: OnceLock<Option<std::path::PathBuf>> = OnceLock::new();
        let file = FILE.get_or_init(|| std::env::var_os("HUSHWIRE_CLOCK").map(Into::into));
        // The test may be writing the file at this moment. Without a number in it, the clock is
        // right.
        let text = file.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
        text.and_then(|text| text.trim().parse().ok()).unwrap_or(0)
    }

    pub(crate) fn pass(point: impl FnOnce() -> String) -> io::Result<()> {
        let mut all = armed().lock().unwrap_or_else(PoisonError::into_inner);
        if all.is_empty() {
            return Ok(());
        }
        let point = point();
        let Some(at) = all.iter().position(|armed| armed.point == point) else { return Ok(()) };
        if all[at].left > 0 {
            all[at].left -= 1;
            return Ok(());
        }
        let action = if all[at].action == "full" { "enospc".to_owned() } else { all.remove(at).action };
        drop(all);
        match action.as_str() {
            // Nothing is unwound, and no buffer of the process is flushed.
            "kill" => {
                let _ =
                    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
                loop {
                    std::thread::sleep(Duration::from_secs(1));
                }
            }
            "enospc" => Err(io::Error::from_raw_os_error(28)),
            "eio" => Err(io::Error::from_raw_os_error(5)),
            "sleep" => {
                std::thread::sleep(Duration::from_secs(1));
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
