//! `hushwire service key`.

use super::out;
use clap::{Args, Subcommand};
use hushwire_fault::Fault;
use hushwire_seal::Person;
use std::path::PathBuf;

/// The commands on a file of keys.
#[derive(Subcommand)]
pub enum KeyCommand {
    /// Make keys: one that signs, and one that results are sealed to
    Init(KeyArgs),
    /// Take a new key for results; the old ones stay in the file, for results sealed to them
    Rotate(KeyArgs),
    /// Print what others need: the key that checks signatures, and the one for results
    Show(KeyArgs),
}

/// A file of keys.
#[derive(Args)]
pub struct KeyArgs {
    /// The file of keys, which only you may read
    #[arg(long, value_name = "FILE")]
    keys: PathBuf,
    /// The name that others know you by
    #[arg(long, default_value = "")]
    name: String,
    /// Answer in JSON: the whole card
    #[arg(long)]
    json: bool,
}

impl KeyCommand {
    pub(super) fn run(self) -> Result<(), Fault> {
        let (args, person) = match self {
            Self::Init(args) => {
                let person = Person::generate();
                person.write(&args.keys, false)?;
                (args, person)
            }
            Self::Rotate(args) => {
                let mut person = Person::read(&args.keys)?;
                person.rotate();
                person.write(&args.keys, true)?;
                (args, person)
            }
            Self::Show(args) => {
                let person = Person::read(&args.keys)?;
                (args, person)
            }
        };
        let card = person.card(&args.name);
        if args.json {
            return out::json(&card);
        }
        out::line(format_args!("sign     {}\nresults  {}", card.sign, card.id))?;
        person.ids()[1..].iter().try_for_each(|old| out::line(format_args!("older    {old}")))
    }
}
