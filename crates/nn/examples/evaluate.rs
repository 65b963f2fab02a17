//! Evaluates networks in fixed point, one for each line of input, for scripts that compare with
//! other implementations (`scripts/fuzz-models`).
//!
//! ```text
//! in    MODEL.onnx <tab> INPUT.npy <tab> CALIBRATION.npy or - <tab> BITS or auto
//! out   ok <tab> BITS <tab> WARNINGS or - <tab> LENGTHS <tab> ELEMENTS in hexadecimal, float32
//!       refused <tab> REASON
//! ```

use hushwire_compute::evaluate;
use hushwire_fault::code;
use hushwire_nn::{
    Array, Fault, Floats, INPUT, Members, Network, Samples, Secure, Wanted, decode, judged, npy, onnx::Model,
};
use std::io::BufRead;

fn file(path: &str) -> Result<Vec<u8>, Fault> {
    std::fs::read(path)
        .map_err(|e| Fault::new(code::MODEL_FILE, path, e.to_string(), "name a file that is there"))
}

/// The number of bits, the warnings and the output.
fn one(line: &str) -> Result<(u8, Vec<String>, Array), Fault> {
    let parts: Vec<&str> = line.split('\t').collect();
    let [model, input, calibration, bits] = parts[..] else {
        return Err(Fault::new(
            code::MODEL_FILE,
            "the line",
            "it has not four parts",
            "see the example's head",
        ));
    };
    let input = npy::read(&file(input)?)?;
    let network = Network::new(Model::read(&file(model)?)?, Some(&input.lengths))?;
    let samples = match calibration {
        "-" => Samples::made_up(&network, None)?,
        path => Samples::given(&network, &npy::read(&file(path)?)?)?,
    };
    let wanted = Wanted { bits: bits.parse().ok(), ..Wanted::default() };
    // Like the command, it refuses networks that cannot be computed before anything is
    // evaluated.
    Secure::new(&network, wanted.usual(), &Members::default())?;
    let choice = wanted.chosen(&network, &samples)?;
    let secure = Secure::new(&network, choice.numbers, &Members::default())?;
    let greatest = samples.greatest(&network, &secure);
    let mut inputs = secure.weights(&network, greatest, samples.headroom())?;
    inputs.insert(INPUT.to_owned(), secure.input(&input)?);
    let output = decode(&evaluate(secure.computation(), &inputs)?["output"]);
    let floats = Floats::new(&network, &input, false)?;
    let rooms = secure.rooms(&network, greatest, samples.headroom(), &floats)?;
    let mut warnings: Vec<String> = choice.finding.iter().map(ToString::to_string).collect();
    warnings.extend(rooms.iter().any(|room| *room <= 0.0).then(|| "values wrap".to_owned()));
    warnings.extend(judged(&network, choice.numbers, &samples, &input, &output)?.map(|f| f.to_string()));
    Ok((choice.numbers.bits, warnings, output))
}

fn main() {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        match one(&line) {
            Ok((bits, warnings, output)) => {
                let told = if warnings.is_empty() {
                    "-".to_owned()
                } else {
                    warnings.join(" | ").replace(['\t', '\n'], " ")
                };
                let lengths: Vec<String> = output.lengths.iter().map(usize::to_string).collect();
                let bytes = output.data.iter().flat_map(|x| x.to_le_bytes());
                let hex: String = bytes.map(|byte| format!("{byte:02x}")).collect();
                println!("ok\t{bits}\t{told}\t{}\t{hex}", lengths.join(","));
            }
            Err(e) => println!("refused\t{}", e.to_string().replace(['\t', '\n'], " ")),
        }
    }
}
