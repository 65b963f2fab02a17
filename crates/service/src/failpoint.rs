//! Points at which tests kill this process, or let a write fail.
//!
//! With the feature `failpoints`, the variable `HUSHWIRE_FAILPOINTS` holds a list as
//! `store.after.prepared=kill,blob.fsync=enospc@2`: what happens at a point, and at which of its
//! passes (the first by default). Without the feature no point does anything, and the variable is
//! not read.

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

#[cfg(feature = "failpoints")]
pub(crate) use armed::pass;

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
        let Armed { action, .. } = all.remove(at);
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
