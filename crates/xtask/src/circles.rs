//! Circles among the files of a crate: sets of files that cannot be read one after the other.
//!
//! File A has an arrow to file B if it names something of B by a path from `crate`, `super` or
//! `self`. A name that a module re-exports belongs to the file that defines it. Tests are not
//! considered.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::Lexed;
use crate::tree;

/// The largest number of files that may use each other.
const MOST: usize = 3;

/// A module's path within its crate; the root is empty.
type Module = Vec<String>;

/// The circles of more than [`MOST`] files in a crate, one line each.
pub(crate) fn long(directory: &str) -> Result<Vec<String>, String> {
    let mut files = BTreeMap::new();
    for path in tree::crate_files(directory)? {
        let short = tree::short(&path);
        if let Some((_, inside)) = short.split_once("/src/").filter(|(_, inside)| !is_test(inside)) {
            let code = without_tests(&Lexed::new(&tree::read(&path)?).code);
            files.insert(module(inside), code);
        }
    }
    Ok(reported(directory, &files))
}

/// The circles of more than [`MOST`] files among these, one line each.
fn reported(directory: &str, files: &BTreeMap<Module, String>) -> Vec<String> {
    let mut circles = circles(&arrows(files));
    circles.retain(|circle| circle.len() > MOST);
    circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    let name = |module: &Module| if module.is_empty() { "lib".into() } else { module.join("/") };
    let line = |circle: &Vec<Module>| {
        let names: Vec<String> = circle.iter().map(name).collect();
        format!("crates/{directory}: {} files use each other: {}", circle.len(), names.join(" "))
    };
    circles.iter().map(line).collect()
}

fn is_test(inside: &str) -> bool {
    inside.split('/').any(|part| {
        let part = part.trim_end_matches(".rs");
        matches!(part, "test" | "tests" | "attacks") || part.ends_with("_test") || part.ends_with("_tests")
    })
}

fn module(inside: &str) -> Module {
    let mut module: Module = inside.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if matches!(module.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        module.pop();
    }
    module
}

/// Removes test modules from code, at its end or in the middle.
fn without_tests(code: &str) -> String {
    let mut kept = String::new();
    let mut lines = code.lines().peekable();
    while let Some(line) = lines.next() {
        let opens = |next: &&str| next.starts_with("mod ") && next.ends_with('{');
        if line == "#[cfg(test)]" && lines.peek().is_some_and(opens) {
            for inside in lines.by_ref() {
                if inside == "}" {
                    break;
                }
            }
        } else {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

fn arrows(files: &BTreeMap<Module, String>) -> BTreeMap<Module, BTreeSet<Module>> {
    let imports: BTreeMap<&Module, Vec<Import>> =
        files.iter().map(|(module, code)| (module, imports(module, code))).collect();
    let mut arrows = BTreeMap::new();
    for (module, code) in files {
        let mut targets = BTreeSet::new();
        for path in paths(code) {
            if let Some(target) = resolve(files, &imports, module, &path).filter(|target| target != module) {
                targets.insert(target);
            }
        }
        arrows.insert(module.clone(), targets);
    }
    arrows
}

/// The file that defines the name at the end of a path.
fn resolve(
    files: &BTreeMap<Module, String>,
    imports: &BTreeMap<&Module, Vec<Import>>,
    module: &Module,
    path: &[String],
) -> Option<Module> {
    let (mut at, mut rest) = base(module, path)?;
    while let Some((name, later)) = rest.split_first() {
        let mut child = at.clone();
        child.push(name.clone());
        if !files.contains_key(&child) {
            break;
        }
        (at, rest) = (child, later);
    }
    // Re-exports are followed a few times at most; a path may also end at a module.
    for _ in 0..5 {
        let Some(name) = rest.first() else { break };
        let mut from = imports.get(&at).into_iter().flatten();
        match from.rfind(|import| import.name == *name && files.contains_key(&import.from)) {
            Some(import) if import.from != at => at.clone_from(&import.from),
            _ => break,
        }
    }
    files.contains_key(&at).then_some(at)
}

/// The module at which a path begins, and the rest of the path.
fn base<'a>(module: &Module, path: &'a [String]) -> Option<(Module, &'a [String])> {
    let (first, mut rest) = path.split_first()?;
    let mut at = if first == "crate" { Module::new() } else { module.clone() };
    if first == "super" {
        at.pop()?;
        while let Some((_, later)) = rest.split_first().filter(|(next, _)| *next == "super") {
            at.pop()?;
            rest = later;
        }
    }
    Some((at, rest))
}

/// A name that a module imports from another.
struct Import {
    name: String,
    from: Module,
}

fn imports(module: &Module, code: &str) -> Vec<Import> {
    let mut imports = Vec::new();
    for (start, _) in code.match_indices("use ") {
        let before = code[..start].chars().next_back();
        let Some(end) = code[start..].find(';') else { continue };
        if before.is_some_and(|before| !before.is_whitespace()) {
            continue;
        }
        let mut paths = Vec::new();
        expand("", &code[start + 4..start + end], &mut paths);
        for path in paths {
            let path: Vec<String> = path.split("::").map(str::to_owned).collect();
            let relative = !matches!(path[0].as_str(), "crate" | "super" | "self");
            let path = if relative { [vec!["self".to_owned()], path].concat() } else { path };
            if let Some((mut from, rest)) = base(module, &path)
                && let Some((name, inside)) = rest.split_last()
            {
                from.extend(inside.iter().cloned());
                imports.push(Import { name: name.clone(), from });
            }
        }
    }
    imports
}

/// Every path of a file that begins at `crate`, `super` or `self`.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for root in ["crate", "super", "self"] {
        for (start, _) in code.match_indices(&format!("{root}::")) {
            let before = code[..start].chars().next_back();
            // `super::super::x` is one path.
            if before.is_some_and(|before| before.is_alphanumeric() || matches!(before, '_' | ':' | '$')) {
                continue;
            }
            let text = &code[start..];
            let end = text.find(|end: char| !(end.is_alphanumeric() || matches!(end, '_' | ':')));
            let end = end.unwrap_or(text.len());
            if text[end..].starts_with('{') && text[..end].ends_with("::") {
                let close = end + closing(&text[end..]);
                expand(&text[..end], &text[end + 1..close], &mut found);
            } else {
                found.push(text[..end].trim_end_matches(':').into());
            }
        }
    }
    found.iter().map(|path| path.split("::").map(str::to_owned).collect()).collect()
}

/// The place of the brace that closes the first one.
fn closing(text: &str) -> usize {
    let mut depth = 0;
    for (at, character) in text.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// Adds every path of a tree of imports, with a prefix.
fn expand(prefix: &str, tree: &str, paths: &mut Vec<String>) {
    let mut depth = 0;
    let parts = tree.split(|character| {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        depth == 0 && character == ','
    });
    for part in parts.map(str::trim).filter(|part| !part.is_empty()) {
        match part.split_once('{') {
            Some((head, inside)) => {
                let inside = inside.rsplit_once('}').map_or(inside, |(inside, _)| inside);
                expand(&format!("{prefix}{}", head.trim()), inside, paths);
            }
            None => {
                let path = part.split(" as ").next().unwrap_or(part).trim();
                paths.push(format!("{prefix}{path}"));
            }
        }
    }
}

/// The sets of two or more files that reach each other.
fn circles(arrows: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<Vec<Module>> {
    let reached: BTreeMap<&Module, BTreeSet<&Module>> =
        arrows.keys().map(|module| (module, reach(arrows, module))).collect();
    let mut circles: BTreeSet<Vec<Module>> = BTreeSet::new();
    for (module, reaches) in &reached {
        let circle: Vec<Module> = reaches
            .iter()
            .filter(|&&other| reached[other].contains(module))
            .map(|&other| other.clone())
            .collect();
        if circle.len() > 1 {
            circles.insert(circle);
        }
    }
    circles.into_iter().collect()
}

/// All files that can be reached from a file.
fn reach<'a>(arrows: &'a BTreeMap<Module, BTreeSet<Module>>, from: &Module) -> BTreeSet<&'a Module> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&Module> = arrows[from].iter().collect();
    while let Some(next) = open.pop() {
        if reached.insert(next) {
            open.extend(&arrows[next]);
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let files = files.iter().map(|(path, code)| (module(path), without_tests(code))).collect();
        let names = circles(&arrows(&files)).into_iter();
        names.map(|circle| circle.iter().map(|module| module.join("/")).collect()).collect()
    }

    #[test]
    fn a_circle_runs_over_any_spelling_of_a_path() {
        let circle = of(&[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "use super::b::{c::{self, C}, D as E};"),
            ("b/mod.rs", "mod c; fn f() { crate::x() }"),
            ("b/c.rs", "struct C; use super::super::a;"),
        ]);
        assert_eq!(circle, [["a", "b/c"]]);
    }

    #[test]
    fn three_files_may_use_each_other_and_four_are_reported() {
        let ring = |count: usize| {
            let code = |k: usize, next: usize| format!("use crate::f{next}::X{next}; struct X{k};");
            (0..count).map(|k| (vec![format!("f{k}")], code(k, (k + 1) % count))).collect()
        };
        assert!(reported("some", &ring(3)).is_empty());
        assert_eq!(reported("some", &ring(4)), ["crates/some: 4 files use each other: f0 f1 f2 f3"]);
    }

    #[test]
    fn a_re_export_belongs_to_who_defines_it() {
        let files = [
            ("lib.rs", "mod a; mod b; pub use b::{B, C};"),
            ("a.rs", "use crate::B; struct A;"),
            ("b.rs", "use crate::a::A; struct B;"),
        ];
        assert_eq!(of(&files), [["a", "b"]]);
    }

    #[test]
    fn tests_make_no_circle() {
        let tests = "struct B;\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n";
        assert!(of(&[("a.rs", "use crate::b::B;"), ("b.rs", tests)]).is_empty());
        assert!(is_test("a/tests/b.rs") && is_test("attacks.rs") && !is_test("latest.rs"));
    }
}
