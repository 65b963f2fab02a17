//! Points at which tests kill this process, or let a write fail.
//!
//! With the feature `failpoints`, the variable `HUSHWIRE_FAILPOINTS` holds a list as
//! `store.after.prepared=kill,blob.fsync=enospc@2`: what happens at a point, and at which of its
//! passes (the first by default). `full` is a disk that is full from then on, the others happen
//! once. `HUSHWIRE_CLOCK` names a file with the milliseconds by which this process's clock is
//! wrong. Without the feature no point does anything, and the variables are not read.

use std::io;

/// Passes a point.
///
/// # Errors
/// A test wants the write at this point to fail.
#[cfg(not(feature = "failpoints"))]
#[inline]
pub(crate) fn pass(_point: impl FnOnce() -> String) -> io::Result<()> {
    Ok(())
}

/// The milliseconds by which a test sets the clock wrong.
#[cfg(not(feature = "failpoints"))]
#[inline]
pub(crate) fn clock_offset() -> i64 {
    0
}

#[cfg(feature = "failpoints")]
pub(crate) use armed::{clock_offset, pass};

#[cfg(feature = "failpoints")]
mod armed {
    use super::io;
    use std::{
        sync::{Mutex, OnceLock, PoisonError},
        time::Duration,
    };

    struct Armed {
        point: String,
        action: String,
        /// Passes before it happens.
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

    pub(crate) fn clock_offset() -> i64 {
        static FILE: OnceLock<Option<std::path::PathBuf>> = OnceLock::new();
        let file = FILE.get_or_init(|| std::env::var_os("HUSHWIRE_CLOCK").map(Into::into));
        // The test may write it at this moment, and no file is no offset.
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
            // As a power cut would: nothing is unwound, nothing is flushed.
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
