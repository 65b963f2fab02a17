//! `bench aes`: the rates at which one core encrypts, hashes and transposes, for each tier.
//!
//! `mode` is the kind of work, and `case` the exact function. `rekeyed-2` encrypts two blocks under
//! each key. `prp-2` and `tccr-2` are the fixed-key hashes with a tweak, for two inputs each, and
//! `ccr` is the one without tweaks. `transpose` transposes 128 × n bits. `resident` is the place of
//! input and output: the first-level cache, or a buffer larger than all caches. Rates are in
//! blocks/s, for transposition in bytes/s of input.
//!
//! Limits, measured in the same run: the tier's rounds in registers. A re-keyed block also needs
//! its part of a key schedule. Ten last rounds make the round keys of four keys, so each key takes
//! the AES work of a quarter block. Transposition is compared with copying between buffers of the
//! same size. `rustcrypto` (the `aes` and `ctr` crates, which choose their instructions themselves)
//! is compared with the best tier.

use std::hint::black_box;

use aes::cipher::{Array, BlockCipherEncrypt, KeyInit, KeyIvInit, StreamCipher, StreamCipherSeek};
use hushwire_aes::{Aes128, Backend, Tier};
use hushwire_block::{Block, as_bytes_mut, transpose};

use crate::{
    Bench, BenchAsked, BenchRow, BoxError, Case, CaseContext, Measurement, Params, Result, Takes, Timer,
    Unit,
    bounds::{self, count},
};

pub(super) const BENCHES: &[Bench] = &[Bench {
    name: "aes",
    about: "AES, hashes and transposition on one core, on every tier of this CPU",
    examples: "Example:\n  hushwire bench aes --only mode=ctr,resident=l1 --json aes.json",
    takes: Takes::Tier,
    cases: |asked| cases(asked, SIZES),
    ..Bench::EMPTY
}];

/// The bytes of input and output together.
#[derive(Clone, Copy)]
struct Sizes {
    l1: usize,
    memory: usize,
}

/// Half of the smallest first-level cache among CPUs with VAES, and more than any last-level cache.
const SIZES: Sizes = Sizes { l1: 24 << 10, memory: 512 << 20 };

/// The implementation of a row.
#[derive(Clone, Copy)]
enum AesEngine {
    Ours(Backend),
    RustCrypto,
}

/// The function of a row.
#[derive(Clone, Copy, PartialEq)]
enum Function {
    Ctr,
    Ecb,
    Rekeyed1,
    Rekeyed2,
    Rekeyed8,
    Prp,
    Ccr,
    Tccr,
    Transpose,
}

/// All functions: case, mode, and whether it belongs to the core set.
const FUNCTIONS: [(Function, &str, &str, bool); 9] = [
    (Function::Ctr, "ctr", "ctr", true),
    (Function::Ecb, "ecb", "ecb", true),
    (Function::Rekeyed1, "rekeyed-1", "rekeyed", false),
    (Function::Rekeyed2, "rekeyed-2", "rekeyed", true),
    (Function::Rekeyed8, "rekeyed-8", "rekeyed", false),
    (Function::Prp, "prp-2", "hash", true),
    (Function::Ccr, "ccr", "hash", false),
    (Function::Tccr, "tccr-2", "hash", false),
    (Function::Transpose, "transpose", "transpose", true),
];

fn cases(asked: &BenchAsked, sizes: Sizes) -> Result<Vec<Case<'static>>> {
    asked.options.one_thread()?;
    let only = asked.backend.map(Backend::tier);
    let mut engines: Vec<(&str, AesEngine)> = Vec::new();
    for tier in Tier::ALL.into_iter().filter(|tier| only.is_none_or(|only| only == *tier)) {
        if let Ok(backend) = Backend::forced(tier) {
            engines.push((tier.name(), AesEngine::Ours(backend)));
        }
    }
    if only.is_none() {
        engines.push(("rustcrypto", AesEngine::RustCrypto));
    }
    let fastest = engines.len().saturating_sub(1 + usize::from(only.is_none()));
    let mut cases = Vec::new();
    for (i, (tier, engine)) in engines.into_iter().enumerate() {
        for (function, case, mode, core) in FUNCTIONS {
            let theirs = matches!(engine, AesEngine::RustCrypto);
            if theirs && !matches!(function, Function::Ctr | Function::Ecb) {
                continue;
            }
            for (resident, bytes) in [("l1", sizes.l1), ("memory", sizes.memory)] {
                let params = Params::new()
                    .with("tier", tier)
                    .with("mode", mode)
                    .with("resident", resident)
                    .with("threads", 1);
                let quick = core && resident == "l1" && (i == fastest || theirs);
                let case =
                    Case::new(case, params, move |ctx| measure(ctx, engine, function, resident, bytes))
                        .core(core)
                        .quick(quick);
                cases.push(case);
            }
        }
    }
    Ok(cases)
}

fn measure(
    ctx: &mut CaseContext<'_>,
    engine: AesEngine,
    function: Function,
    resident: &str,
    bytes: usize,
) -> Result<BenchRow, BoxError> {
    let backend = match engine {
        AesEngine::Ours(backend) => backend,
        AesEngine::RustCrypto => Backend::best(),
    };
    let (limit, unit) = if function == Function::Transpose {
        let name = format!("copy, {resident}");
        bounds::copies(ctx, &name, bytes)?;
        (name, Unit::BYTES_PER_S)
    } else {
        (aes_limit(ctx, backend, function)?, Unit::BLOCKS_PER_S)
    };
    let measured = match engine {
        AesEngine::Ours(backend) => ours(ctx.timer(), backend, function, bytes),
        AesEngine::RustCrypto => theirs(ctx.timer(), function == Function::Ctr, bytes)?,
    };
    Ok(BenchRow::new("throughput", unit, measured).limit(&limit))
}

/// Measures the limit of a function, and returns its name.
fn aes_limit(ctx: &mut CaseContext<'_>, backend: Backend, function: Function) -> Result<String, BoxError> {
    let peak = bounds::rounds(ctx, backend)?;
    let rounds = bounds::rounds_name(backend);
    let (calls, why) = match function {
        Function::Rekeyed1 => (1.25, "a key schedule a block"),
        Function::Rekeyed2 => (1.125, "a key schedule every 2 blocks"),
        Function::Rekeyed8 => (1.03125, "a key schedule every 8 blocks"),
        Function::Tccr => (2.0, "a second call a block"),
        Function::Ctr | Function::Ecb | Function::Prp | Function::Ccr | Function::Transpose => {
            return Ok(rounds);
        }
    };
    let name = format!("{rounds} + {why}");
    ctx.limit(&name, Unit::BLOCKS_PER_S, |_| Ok(peak / calls))?;
    Ok(name)
}

fn blocks(n: usize) -> Vec<Block> {
    (0..n).map(|i| Block::from_u128(0x9e37_79b9_7f4a_7c15 * (i as u128 + 1))).collect()
}

fn ours(timer: Timer, backend: Backend, function: Function, bytes: usize) -> Measurement {
    let key = Aes128::on(backend, &[7; 16]);
    match function {
        Function::Ctr => in_place(timer, bytes / 16, |x| backend.ctr_xor(&key, [3; 16], as_bytes_mut(x))),
        Function::Ecb => in_place(timer, bytes / 16, |x| backend.ecb_encrypt(&key, x)),
        Function::Rekeyed1 => rekeyed::<1>(timer, backend, bytes),
        Function::Rekeyed2 => rekeyed::<2>(timer, backend, bytes),
        Function::Rekeyed8 => rekeyed::<8>(timer, backend, bytes),
        Function::Prp => across(timer, bytes, |x, out| backend.prp::<2>(&key, 5, x, out)),
        Function::Ccr => across(timer, bytes, |x, out| backend.ccr(&key, x, out)),
        Function::Tccr => across(timer, bytes, |x, out| backend.tccr::<2>(&key, 5, x, out)),
        Function::Transpose => {
            // There are 128 rows. Columns fill whole vectors.
            let columns = (bytes / 32).next_multiple_of(512);
            let (src, mut dst) = (vec![0x35u8; 16 * columns], vec![1u8; 16 * columns]);
            timer.rate(count(16 * columns as u64), || {
                let (tier, gfni) = (backend.tier(), backend.gfni());
                transpose::bits_with(tier, gfni, black_box(&src), 128, columns, &mut dst);
                black_box(&mut dst);
            })
        }
    }
}

fn in_place(timer: Timer, n: usize, mut run: impl FnMut(&mut [Block])) -> Measurement {
    let mut data = blocks(n);
    timer.rate(count(n as u64), || run(black_box(&mut data)))
}

fn across(timer: Timer, bytes: usize, mut run: impl FnMut(&[Block], &mut [Block])) -> Measurement {
    let (x, mut out) = (blocks(bytes / 32), vec![Block::ONES; bytes / 32]);
    timer.rate(count(x.len() as u64), || {
        run(black_box(&x), &mut out);
        black_box(&mut out);
    })
}

fn rekeyed<const H: usize>(timer: Timer, backend: Backend, bytes: usize) -> Measurement {
    let keys = blocks(bytes / 16 / (H + 1));
    let mut data = blocks(H * keys.len());
    timer.rate(count(data.len() as u64), || {
        backend.rekeyed::<H>(black_box(&keys), &mut data);
        black_box(&mut data);
    })
}

/// Measures CTR or ECB of RustCrypto.
fn theirs(timer: Timer, counter: bool, bytes: usize) -> Result<Measurement, BoxError> {
    let (key, n) = (Array::from([7u8; 16]), bytes / 16);
    if counter {
        let mut cipher = ctr::Ctr128BE::<aes::Aes128>::new(&key, &Array::from([3u8; 16]));
        let mut data = vec![0x35u8; 16 * n];
        return timer.try_rate(count(n as u64), || {
            cipher.try_seek(0u64)?;
            cipher.try_apply_keystream(black_box(&mut data))?;
            Ok(())
        });
    }
    let cipher = aes::Aes128::new(&key);
    let mut data = vec![Array::from([0x35u8; 16]); n];
    Ok(timer.rate(count(n as u64), || cipher.encrypt_blocks(black_box(&mut data))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Report;

    const TINY: Sizes = Sizes { l1: 4 << 10, memory: 16 << 10 };

    fn report(only: &[&str], backend: Option<Backend>) -> Report {
        let mut asked = BenchAsked { backend, ..crate::trial::asked(only) };
        asked.options.all = true;
        crate::run("aes", cases(&asked, TINY).unwrap(), &asked.options).unwrap()
    }

    #[test]
    fn every_row_has_its_params_and_a_limit_in_its_unit() {
        let report = report(&[], None);
        let (ours, theirs): (Vec<&BenchRow>, Vec<&BenchRow>) =
            report.rows.iter().partition(|row| row.params.text("tier").unwrap() != "rustcrypto");
        assert_eq!(ours.len() % (2 * FUNCTIONS.len()), 0);
        assert_eq!(theirs.len(), 4);
        for row in &report.rows {
            assert_eq!(row.params.keys().collect::<Vec<_>>(), ["tier", "mode", "resident", "threads"]);
            assert_eq!(row.params.integer("threads"), Some(1));
            let unit = if row.case == "transpose" { Unit::BYTES_PER_S } else { Unit::BLOCKS_PER_S };
            assert_eq!((&row.unit, row.metric.as_str()), (&unit, "throughput"));
            let limit = report.limits.get(row.limit_name.as_deref().unwrap()).unwrap();
            assert_eq!(row.limit, Some(limit.value));
            crate::limits::stands(&report, row);
        }
        let modes = ["ctr", "ecb", "rekeyed", "hash", "transpose"];
        for mode in modes {
            assert!(report.rows.iter().any(|row| row.params.text("mode").unwrap() == mode), "{mode}");
        }
        let once = |name: &str| report.limits.iter().filter(|limit| limit.name == name).count();
        assert_eq!(once(&bounds::rounds_name(Backend::best())), 1);
    }

    #[test]
    fn a_forced_tier_stands_alone() {
        let report = report(&["resident=l1", "mode=ctr"], Backend::forced(Tier::Portable).ok());
        assert_eq!(report.rows.len(), 1);
        assert_eq!(report.rows[0].params.text("tier").unwrap(), "portable");
        assert_eq!(report.rows[0].limit_name.as_deref(), Some("portable rounds"));
    }

    #[test]
    fn only_one_thread_is_offered() {
        let mut asked = BenchAsked::default();
        asked.options.threads = Some(2);
        let error = cases(&asked, TINY).err().unwrap().to_string();
        assert_eq!(error, "no row has threads=2; the values of `threads` are: 1");
    }
}
