//! `hushwire keys` and `hushwire completions`.

use crate::common::{Place, good};
use hushwire_wire::{Identity, Validity};
use serde_json::Value;
use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    process::Command,
    time::{Duration, SystemTime},
};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

fn is_pin(text: &str) -> bool {
    text.strip_prefix("sha256:").is_some_and(|d| d.len() == 64 && d.chars().all(|c| c.is_ascii_hexdigit()))
}

#[test]
fn a_key_is_made_shown_and_rotated() {
    let place = Place::new();
    let made = good(&place, "keys init --name party0 --days 90");
    let pin = made.out.trim().to_owned();
    assert!(is_pin(&pin), "{pin}");
    assert!(made.err.contains("[[peers]]") && made.err.contains(&format!("pin = \"{pin}\"")), "{}", made.err);
    assert_eq!((place.mode("party0.pem"), place.names()), (0o600, vec!["party0.pem".to_owned()]));
    assert_eq!(good(&place, "keys pin party0.pem").out.trim(), pin);

    let shown = good(&place, "keys show party0.pem");
    assert!(shown.out.contains(&pin) && shown.out.contains("party0") && shown.out.contains("89 days left"));
    assert!(shown.err.is_empty(), "{}", shown.err);

    let before = place.get("party0.pem");
    let rotated = json(&good(&place, "keys rotate party0.pem --json -").out);
    assert_eq!(rotated["old_pin"], pin.as_str());
    assert_eq!((rotated["name"].as_str(), rotated["days_left"].as_u64()), (Some("party0"), Some(364)));
    let new_pin = good(&place, "keys pin party0.pem").out.trim().to_owned();
    assert!(is_pin(&new_pin) && new_pin != pin && rotated["pin"] == new_pin.as_str());
    assert_eq!(place.get("party0.pem.old"), before);
    assert_eq!((place.mode("party0.pem"), place.mode("party0.pem.old")), (0o600, 0o600));
    assert_eq!(good(&place, "keys pin party0.pem.old").out.trim(), pin);
    let second = place.get("party0.pem");
    let again = good(&place, "keys rotate party0.pem");
    assert!(again.out.contains(&new_pin) && again.err.contains("[[peers]]"), "{}{}", again.out, again.err);
    // Both old keys are kept.
    assert!(again.err.contains("party0.pem.old.2"), "{}", again.err);
    assert_eq!((place.get("party0.pem.old"), place.get("party0.pem.old.2")), (before, second));
    assert_eq!(place.mode("party0.pem.old.2"), 0o600);
}

/// `init` writes a card beside the key. A rotation writes the new pin into the card, and leaves
/// other files of that name unchanged.
#[test]
fn a_rotation_writes_the_card_anew() {
    let place = Place::new();
    good(&place, "init --member party0 --address a.example.org:7000");
    let card = place.get("party0.card");
    let rotated = json(&good(&place, "keys rotate party0.pem --json -").out);
    let pin = |field: &str| rotated[field].as_str().unwrap_or_default().to_owned();
    assert_eq!(rotated["card"], "party0.card");
    let text = String::from_utf8_lossy(&card).into_owned();
    assert_eq!(place.get("party0.card"), text.replace(&pin("old_pin"), &pin("pin")).into_bytes());
    assert_ne!(place.get("party0.card"), card);
    let again = good(&place, "keys rotate party0.pem");
    assert!(again.err.contains("party0.card has the new pin"), "{}", again.err);
    // The old card again, which does not belong to this key.
    place.put("party0.card", &card);
    let third = json(&good(&place, "keys rotate party0.pem --json -").out);
    assert!(third["card"].is_null() && place.get("party0.card") == card, "{third}");
}

/// A description in a file comes in addition to the text. On standard output it replaces the text.
/// It never replaces a key.
#[test]
fn descriptions_go_to_files_and_to_standard_output() {
    let place = Place::new();
    let made = good(&place, "keys init --name a --json made.json");
    assert!(is_pin(made.out.trim()) && made.err.contains("[[peers]]"), "{}", made.err);
    let of = |name: &str| json(&String::from_utf8_lossy(&place.get(name)));
    assert_eq!(of("made.json")["pin"], made.out.trim());
    let shown = good(&place, "keys show a.pem --json shown.json");
    assert!(shown.out.starts_with("pin    sha256:"), "{}", shown.out);
    assert_eq!(of("shown.json"), json(&good(&place, "keys show a.pem --json -").out));
    let rotated = good(&place, "keys rotate a.pem --json rotated.json");
    assert!(rotated.out.starts_with("old sha256:"), "{}", rotated.out);
    assert_eq!(of("rotated.json")["old_pin"], made.out.trim());
    for (name, file) in [("init", "made.json"), ("show", "shown.json"), ("rotate", "rotated.json")] {
        crate::schemas::see_as(&format!("keys-{name}"), &of(file));
    }
    let alone = json(&good(&place, "keys init --name b --json -").out);
    assert_eq!(alone["name"], "b");
    let before = place.get("a.pem");
    for args in [
        "show a.pem --json a.pem",
        "rotate a.pem --json a.pem --force",
        "show b.pem --json a.pem --force",
        "init --name c --json a.pem --force",
    ] {
        assert_eq!(place.ran(&format!("keys {args}")).code, Some(5), "{args}");
        assert_eq!(place.get("a.pem"), before, "{args}");
    }
    assert!(!place.at("c.pem").exists(), "nothing is made where the description cannot be written");
}

#[test]
fn a_key_says_which_party_it_is() {
    let place = Place::new();
    for (name, index) in
        [("party0", Some(0)), ("party1", Some(1)), ("party7", Some(7)), ("bank", None), ("party8", None)]
    {
        let made = good(&place, &format!("keys init --name {name}"));
        let line = format!("  index = {}\n", index.unwrap_or(0));
        assert!(made.err.contains(&line), "{name}: {}", made.err);
        assert_eq!(made.err.contains("this member's number"), index.is_none(), "{name}: {}", made.err);
        let shown = json(&good(&place, &format!("keys show --json - {name}.pem")).out);
        assert_eq!(shown["index"].as_u64(), index, "{shown}");
        crate::schemas::see_as("keys-show", &shown);
    }
}

#[test]
fn a_certificate_that_does_not_hold_fails_the_check() {
    let place = Place::new();
    good(&place, "keys init --out good.pem");
    good(&place, "keys show --check good.pem");
    let (now, day) = (SystemTime::now(), Duration::from_secs(86_400));
    for (not_before, not_after, word) in
        [(now - 9 * day, now - day, "has ended"), (now + day, now + 9 * day, "does not hold yet")]
    {
        let identity = Identity::generate_for("other", Validity { not_before, not_after });
        place.put("other.pem", identity.unwrap_or_else(|e| panic!("{e}")).to_pem().as_bytes());
        let shown = good(&place, "keys show other.pem");
        assert!(shown.err.contains(word), "{}", shown.err);
        for args in ["keys show --check other.pem", "keys show --check --json - other.pem"] {
            let ran = place.ran(args);
            assert_eq!(ran.code, Some(4), "{}", ran.err);
            assert!(
                ran.err.contains("not today") && ran.err.contains("keys rotate other.pem"),
                "{}",
                ran.err
            );
            assert!(ran.out.contains("sha256:"), "what it is comes all the same: {}", ran.out);
        }
    }
    fs::set_permissions(place.at("good.pem"), Permissions::from_mode(0o640))
        .unwrap_or_else(|e| panic!("{e}"));
    let ran = place.ran("keys show --check good.pem");
    assert_eq!(ran.code, Some(5), "{}", ran.err);
    assert!(ran.err.contains("0640") && ran.err.contains("chmod 600 good.pem"), "{}", ran.err);
}

#[test]
fn nothing_is_overwritten_and_errors_say_what_to_do() {
    let place = Place::new();
    good(&place, "keys init --out a.pem");
    let before = place.get("a.pem");
    let again = place.ran("keys init --out a.pem");
    assert_eq!(again.code, Some(5));
    assert!(again.err.contains("keys rotate a.pem"), "{}", again.err);
    assert_eq!(place.get("a.pem"), before);
    for (args, code, words) in [
        ("keys init --name ../x", 2, "letters"),
        ("keys init --days 0", 2, "--days"),
        ("keys init --dir nowhere", 4, "; "),
        ("keys show nowhere.pem", 4, "nowhere.pem"),
        ("keys pin nowhere.pem", 4, "nowhere.pem"),
        ("keys rotate text.pem", 4, "keys init"),
        ("keys rotate certificate.pem", 4, "without its key"),
        ("keys pin 127.0.0.1:1", 3, "127.0.0.1:1"),
    ] {
        place.put("text.pem", b"not a key");
        let pem = String::from_utf8_lossy(&before).into_owned();
        place.put("certificate.pem", pem.split("-----BEGIN PRIVATE").next().unwrap_or("").as_bytes());
        let ran = place.ran(args);
        assert_eq!(ran.code, Some(code), "{args}: {}", ran.err);
        assert!(ran.err.contains(words), "{args}: {}", ran.err);
        assert!(!ran.err.contains("PRIVATE"), "{args}: {}", ran.err);
    }
    assert_eq!(good(&place, "keys pin certificate.pem").out, good(&place, "keys pin a.pem").out);
}

#[test]
fn what_should_not_stay_so_is_said() {
    let place = Place::new();
    good(&place, "keys init --out soon.pem --days 20");
    let soon = good(&place, "keys show soon.pem");
    assert!(soon.err.contains("ends soon") && soon.err.contains("keys rotate soon.pem"), "{}", soon.err);
    good(&place, "keys init --out open.pem");
    fs::set_permissions(place.at("open.pem"), Permissions::from_mode(0o644))
        .unwrap_or_else(|e| panic!("{e}"));
    let open = json(&good(&place, "keys show --json - open.pem").out);
    assert!(open["warnings"][0].as_str().is_some_and(|w| w.contains("chmod 600 open.pem")), "{open}");
}

#[test]
fn quiet_is_silent_and_json_lines_parse() {
    let place = Place::new();
    let quiet = good(&place, "keys init -q --name a");
    assert!(quiet.err.is_empty() && is_pin(quiet.out.trim()), "{}", quiet.err);
    let quiet = good(&place, "-q local run --circuit less:32 --inputs 0=0000002a,1=00000063");
    assert_eq!((quiet.out.trim(), quiet.err.as_str()), ("0=1", ""));
    for args in [
        "keys init --name b --log-format json",
        "--log-format json -vv local run --circuit less:32 --inputs 0=0000002a,1=00000063",
        "keys show nowhere.pem --log-format json",
    ] {
        let ran = place.ran(args);
        assert!(!ran.err.is_empty(), "{args}");
        for line in ran.err.lines() {
            let line = json(line);
            assert!(line["level"].is_string() && line["message"].is_string(), "{args}: {line}");
            // The log has neither keys nor inputs.
            let text = line.to_string();
            assert!(!text.contains("PRIVATE") && !text.contains("0000002a"), "{args}: {text}");
        }
    }
    let failed = place.ran("keys show nowhere.pem --log-format json");
    assert_eq!((json(&failed.err)["exit_code"].as_u64(), failed.code), (Some(4), Some(4)));
    assert_eq!(place.ran("-q -v keys show a.pem").code, Some(2));
}

#[test]
fn every_shell_has_its_completions() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = good(&place, &format!("completions {shell}")).out;
        for word in ["local", "aes-ctr", "doctor", "rotate", "log-format"] {
            assert!(script.contains(word), "{shell}: no {word}");
        }
        assert!(!script.contains("__member"), "{shell}: what nobody types");
    }
    for shell in ["bash", "zsh", "fish"] {
        place.put("script", good(&place, &format!("completions {shell}")).out.as_bytes());
        match Command::new(shell).arg("-n").arg(place.at("script")).output() {
            Ok(output) => {
                assert!(output.status.success(), "{shell}: {}", String::from_utf8_lossy(&output.stderr));
            }
            Err(e) => eprintln!("NOT PARSED by {shell}, which is not here: {e}"),
        }
    }
}
