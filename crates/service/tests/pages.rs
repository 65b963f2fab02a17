//! Runs the commands of the operator's page as they are, in the directory of `local-up`.

mod rig;

use rig::{Rig, logs};
use std::process::{Command, Stdio};

/// Defines `hushwire` as a function that sends the service's commands to this program.
fn script(block: &str) -> String {
    let program = rig::program();
    format!(
        "hushwire() {{ case \"$1\" in service) shift; {program} \"$@\";; *) {program} \"$@\";; esac; }}\n{block}"
    )
}

#[test]
fn the_operators_page_is_run_as_it_is() {
    let rig = Rig::up();
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/operate-service.md");
    let page = std::fs::read_to_string(page).expect("the page");
    // The pins of other operators, an analyst's proposal, and its data set.
    let pin = |party: usize| rig.up["parties"][party]["pin"].as_str().expect("a pin").to_owned();
    let line: String = rig
        .store(0)
        .query_row("SELECT line FROM datasets", [], |row| row.get(0))
        .expect("the sample has one data set");
    let person =
        hushwire_seal::Person::read(&rig.dir.path().join("anna.keys")).unwrap_or_else(|e| panic!("{e}"));
    let proposal = rig.up["sample"]["proposal"].as_str().expect("a name");
    let mut ran = 0;
    for part in page.split("```sh service\n").skip(1) {
        let block = part.split("```").next().expect("a block has an end");
        let output = Command::new("bash")
            .args(["-euo", "pipefail", "-c", &script(block)])
            .current_dir(rig.dir.path())
            .env_remove("HUSHWIRE_SERVICE")
            .envs([("PIN1", pin(1)), ("PIN2", pin(2)), ("PROPOSAL", proposal.to_owned())])
            .envs([("LINE", line.trim_start_matches("blake3:")), ("RECIPIENT", &person.ids()[0].to_string())])
            .stdin(Stdio::null())
            .output()
            .expect("bash runs");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{block}: {error}{}", logs(rig.dir.path()));
        ran += 1;
    }
    assert!(ran >= 8, "{ran} blocks");
    // The page has exactly one block that is not run here.
    assert_eq!(page.matches("```sh later").count(), 1);
}
