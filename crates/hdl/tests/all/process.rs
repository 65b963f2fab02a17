//! A device's process ends with the device, and when it fails.

use crate::common::{HELLO, PATIENCE};
use hushwire_hdl::{Cause, Device};
use hushwire_testkit::executable;
use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Starts a program that greets, then runs `rest`; it writes its process number to `pid` in
/// `folder`.
fn start(folder: &Path, rest: &str) -> Device {
    let hello = HELLO.to_bytes();
    let bytes = [&b"H\0\0\0"[..], &(hello.len() as u32).to_le_bytes(), &hello].concat();
    let octal: String = bytes.iter().map(|b| format!("\\{b:03o}")).collect();
    let program = folder.join("party-sim");
    let script = format!("#!/bin/sh\necho $$ > '{}'\nprintf '{octal}' >&0\n{rest}\n", pid(folder));
    executable(&program, script.as_bytes());
    Device::start(&program).unwrap()
}

fn pid(folder: &Path) -> String {
    folder.join("pid").display().to_string()
}

/// Whether the device's process ends in time.
fn gone(folder: &Path, within: Duration) -> bool {
    let number = fs::read_to_string(pid(folder)).unwrap();
    let begun = Instant::now();
    while begun.elapsed() < within {
        let asked = Command::new("kill").args(["-0", number.trim()]).stderr(Stdio::null()).status();
        if !asked.unwrap().success() {
            return true;
        }
        thread::sleep(Duration::from_millis(10));
    }
    false
}

#[test]
fn a_process_that_failed_is_ended_even_if_it_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    // The answer to the request for statistics is invalid.
    let device = start(folder.path(), "head -c 8 <&0 >/dev/null; printf QQQQQQQQ >&0; kill -STOP $$");
    assert!(matches!(device.statistics().err().unwrap().cause, Cause::Protocol(_)));
    assert!(gone(folder.path(), PATIENCE), "its process is still there");
    assert!(device.check().is_err());
}

#[test]
fn a_process_that_does_not_end_by_itself_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let device = start(folder.path(), "exec sleep 100");
    let other = device.clone();
    drop(device);
    assert!(!gone(folder.path(), Duration::from_secs(1)), "another batch needs it");
    drop(other);
    assert!(gone(folder.path(), PATIENCE), "its process is still there");
}
