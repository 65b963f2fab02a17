//! Files as users have them. Each is read correctly, or refused with its place, the form of the
//! value and a remedy. DuckDB reads the same if its options mean the same. Without DuckDB that part
//! is skipped with a message. `HUSHWIRE_PYTHON` names an interpreter other than `python3`.

mod cases;

use super::{
    rows::{read, shown},
    survey::{Depth, infer, survey},
};
use cases::{
    FILES, Messy,
    Wanted::{Doubt, Refused, Rows as Read, Told},
};
use hushwire_session::{Dialect, InputPlace};
use hushwire_tables::algebra::{Schema, Table, TablePart};
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

impl Messy {
    fn dialect(&self) -> Dialect {
        let mut dialect = Dialect::default();
        for (name, value) in self.options {
            dialect.set(name, value).unwrap_or_else(|e| panic!("{e}"));
        }
        dialect
    }

    fn place(&self, dir: &Path) -> InputPlace {
        let put = |(name, bytes): &(&str, &[u8])| {
            let path = dir.join(name);
            fs::write(&path, bytes).unwrap_or_else(|e| panic!("{e}"));
            InputPlace::File(path)
        };
        InputPlace::Table(self.files.iter().map(put).collect(), self.dialect())
    }

    fn title(&self) -> String {
        let (_, bytes) = self.files[0];
        format!("{} with {:?}", bytes.escape_ascii(), self.options)
    }
}

/// Columns as they are declared, rows with `|` and `~`, and the remarks for the owner.
type AsText = (String, Vec<String>, Vec<String>);

fn table(place: &InputPlace) -> Result<AsText, String> {
    let found = infer(&[place]).map_err(|e| e.to_string())?;
    let declared: Vec<String> = found.columns.iter().map(ToString::to_string).collect();
    let schema = Schema(found.columns);
    let parts = vec![TablePart { owner: "a".into(), rows: found.rows[0] }];
    let table = Table { name: "t".into(), schema: schema.clone(), parts, padded: false, unique: vec![] };
    let mut all = vec![];
    let told = read(&table, (place, &Dialect::default()), &[0; 32], &[], |rows| {
        all.extend_from_slice(rows);
        Ok(())
    });
    let told = told.map_err(|e| e.to_string())?;
    assert_eq!(told, found.remarks, "told alike when types are found and when rows are read");
    let line = |row: &Vec<Option<String>>| {
        row.iter().map(|field| field.clone().unwrap_or("~".into())).collect::<Vec<_>>().join("|")
    };
    Ok((declared.join(", "), shown(&schema, &all).iter().map(line).collect(), told))
}

#[test]
fn messy_files_are_read_right_or_refused_with_a_remedy() {
    for messy in &FILES {
        let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
        let place = messy.place(dir.path());
        let (title, found) = (messy.title(), table(&place));
        match (&messy.wanted, found) {
            (Read(types, rows), Ok((declared, read, told))) => {
                assert_eq!((declared.as_str(), read), (*types, strings(rows)), "{title}");
                assert!(told.is_empty(), "{title}: {told:?}");
            }
            (Told(types, rows, remark), Ok((declared, read, told))) => {
                assert_eq!((declared.as_str(), read), (*types, strings(rows)), "{title}");
                assert!(told.iter().any(|told| told.contains(remark)), "{title}: {told:?}");
            }
            (Doubt(types, parts), Ok((declared, ..))) => {
                assert_eq!(declared, *types, "{title}");
                let depth = Depth { spellings: true, ..Depth::default() };
                let found = survey(&[&place], depth).unwrap_or_else(|e| panic!("{title}: {e}")).found;
                let told: Vec<String> = found
                    .iter()
                    .map(|survey| {
                        let options = survey.spellings().iter().flat_map(|s| &s.options);
                        let options: Vec<String> =
                            options.map(|(name, value)| format!("{name} {value}")).collect();
                        let doubt = survey.doubt();
                        let doubt = doubt.map(|doubt| format!("{}; {}", doubt.misfits(), doubt.remedy()));
                        format!("{}; {}; {}", survey.reason(), doubt.unwrap_or_default(), options.join(", "))
                    })
                    .collect();
                for part in *parts {
                    assert!(told.iter().any(|told| told.contains(part)), "{title}: no {part:?} in {told:?}");
                }
            }
            (Refused(parts), Err(error)) => {
                for part in *parts {
                    assert!(error.contains(part), "{title}: no {part:?} in {error}");
                }
            }
            (_, found) => panic!("{title}: {found:?}"),
        }
    }
}

fn strings(rows: &[&str]) -> Vec<String> {
    rows.iter().map(|row| (*row).to_owned()).collect()
}

/// Files in both compressed formats, and damaged ones.
#[test]
fn packed_files_are_read_and_damaged_ones_refused() {
    let packed = |text: &[u8]| {
        let mut packer = flate2::write::GzEncoder::new(vec![], flate2::Compression::default());
        packer.write_all(text).unwrap();
        packer.finish().unwrap()
    };
    let gz = packed(b"id,n\n1,2\n3,4\n");
    let twice = [gz.clone(), packed(b"5,6\n")].concat();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.csv.gz");
    let read = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        table(&InputPlace::File(path.clone()))
    };
    assert_eq!(read(&gz).unwrap().1, ["1|2", "3|4"]);
    assert_eq!(read(&twice).unwrap().1, ["1|2", "3|4", "5|6"], "members one after the other");
    for broken in [&gz[..gz.len() - 6], &gz[..12], &[&gz[..10], b"xxxxxxxxxxxx"].concat()] {
        let e = read(broken).unwrap_err();
        assert!(e.contains("a.csv.gz: its compressed bytes are damaged, or end early; fetch"), "{e}");
    }
    // The output of `printf 'id,n\n1,2\n' | zstd`, whose content is not compressed.
    let zst = b"\x28\xb5\x2f\xfd\x04\x58\x49\x00\x00id,n\n1,2\n\x28\xa8\x17\x12";
    let read = read(zst);
    #[cfg(feature = "parquet")]
    assert_eq!(read.unwrap().1, ["1|2"]);
    #[cfg(not(feature = "parquet"))]
    {
        let e = read.unwrap_err();
        assert!(e.contains("it is compressed") && e.contains("with the feature parquet"), "{e}");
    }
}

/// Files without rows have the types of their schema, and an empty file has no rows.
#[test]
fn files_without_rows_have_the_types_of_their_schema() {
    let dir = tempfile::tempdir().unwrap();
    let columns =
        ["id INTEGER NOT NULL", "n DECIMAL(4, 2)"].map(|text| super::column_of(text).unwrap()).to_vec();
    let table = Table {
        name: "t".into(),
        schema: Schema(columns),
        parts: vec![TablePart { owner: "a".into(), rows: 0 }],
        padded: false,
        unique: vec![],
    };
    for text in ["", "id,n\n", "\n"] {
        let path: PathBuf = dir.path().join("a.csv");
        fs::write(&path, text).unwrap();
        let place = InputPlace::File(path);
        let mut rows = 0;
        let take = |taken: &[_]| {
            rows += taken.len();
            Ok(())
        };
        read(&table, (&place, &Dialect::default()), &[0; 32], &[], take)
            .unwrap_or_else(|e| panic!("{text:?}: {e}"));
        assert_eq!((rows, super::count(&place).unwrap().0), (0, 0));
    }
}

const SCRIPT: &str = "
import json, sys
try:
    import duckdb
except ImportError:
    print('absent')
    sys.exit(0)
for line in sys.stdin:
    path, columns, options = json.loads(line)
    names = ', '.join(f'CAST(\"{name}\" AS VARCHAR)' for name in columns)
    kinds = '{' + ', '.join(f\"'{name}': '{kind}'\" for name, kind in columns.items()) + '}'
    given = options if 'delim' in options else options + \", delim=','\"
    rows = duckdb.sql(f\"SELECT {names} FROM read_csv('{path}', columns={kinds}, auto_detect=false, {given})\").fetchall()
    print(json.dumps(['|'.join('~' if f is None else f for f in row) for row in rows]))
";

#[test]
fn duckdb_reads_the_same_values() {
    let python = std::env::var_os("HUSHWIRE_PYTHON").unwrap_or_else(|| "python3".into());
    let dir = tempfile::tempdir().unwrap();
    let (mut lines, mut wanted) = (String::new(), vec![]);
    for (at, messy) in FILES.iter().enumerate() {
        let (Some(options), Read(_, rows)) = (messy.duck, &messy.wanted) else { continue };
        let own = dir.path().join(at.to_string());
        fs::create_dir(&own).unwrap();
        let place = messy.place(&own);
        let columns = infer(&[&place]).unwrap().columns;
        let columns: Vec<String> =
            columns.iter().map(|c| format!("{:?}: {:?}", c.name, c.ty.to_string())).collect();
        let path = own.join(messy.files[0].0);
        lines += &format!("[{:?}, {{{}}}, {options:?}]\n", path.to_str().unwrap(), columns.join(", "));
        wanted.push((messy.title(), strings(rows)));
    }
    let mut run = match Command::new(python)
        .args(["-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
    {
        Ok(run) => run,
        Err(e) => return eprintln!("skipped: DuckDB needs python3, which does not start: {e}"),
    };
    // A script that ends at once does not read its input.
    let _ = run.stdin.take().unwrap().write_all(lines.as_bytes());
    let output = run.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    if text.trim() == "absent" {
        return eprintln!("skipped: python3 has no duckdb");
    }
    assert!(output.status.success(), "{text}");
    let found: Vec<Vec<String>> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(found.len(), wanted.len());
    for (found, (title, rows)) in found.into_iter().zip(wanted) {
        assert_eq!(found, rows, "{title}");
    }
}
