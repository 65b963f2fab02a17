//! Models and inputs at rest, with the plain network as oracle.

use super::*;
use hushwire_block::Wiped;
use hushwire_kinds::{InferJob, RunValues, stored_inference};
use hushwire_nn::{Floats, Members, Network, Numbers, Samples, Secure, npy, onnx::Model, zoo};

/// A small model, and its file.
fn small() -> (Model, Vec<u8>) {
    let mut w = zoo::Writer::new("small", 3, &[1, 4]);
    let x = w.gemm("input", [4, 5]);
    let x = w.relu(&x);
    let x = w.gemm(&x, [5, 3]);
    let model = w.finish(&x);
    let bytes = model.to_bytes();
    (model, bytes)
}

/// A job of a model and an input that are data sets.
fn of_data_sets(secure: &Secure) -> InferJob {
    InferJob {
        protocol: Protocol::Rep3,
        ot: None,
        link: None,
        linear: None,
        ahead: None,
        network: ComputationSource::Text(secure.computation().to_string()),
        bits: None,
        owner: Member::Data("model".into()),
        client: Member::Data("patients".into()),
        to: Some(Member::Recipient("anna".into())),
        threads: None,
        values: RunValues::default(),
    }
}

/// Sizes of values that another process has found replace the inputs from which they come: the
/// weights are the same, bit for bit. Sizes of another network are refused, and so are sizes
/// together with inputs.
#[test]
fn sizes_of_values_stand_for_the_inputs_that_they_come_from() {
    let (model, bytes) = small();
    let network = Network::new(model, Some(&[1, 4])).expect("a network");
    let secure = Secure::new(&network, Numbers::default(), &Members::default()).expect("a computation");
    let (job, owner) = (of_data_sets(&secure), Member::Data("model".into()));
    let read = |more: &[(&str, InputPlace)]| {
        let mut inputs = BTreeMap::from([("model".to_owned(), InputPlace::memory(bytes.clone()))]);
        inputs.extend(more.iter().map(|(name, place)| ((*name).to_owned(), place.clone())));
        stored_inference(&job, &owner, &inputs).map(|columns| {
            let bytes = |planes: &Vec<Wiped<Vec<u8>>>| planes.iter().map(|part| part.to_vec()).collect();
            columns.iter().map(|(_, planes)| bytes(planes)).collect::<Vec<Vec<Vec<u8>>>>()
        })
    };
    let text = |text: &str| InputPlace::Values(Wiped::new(text.to_owned()));
    let given = npy::write(&zoo::sample(&[2, 4], 9));
    let array = npy::read(&given).expect("an array");
    let ways = [
        (Samples::made_up(&network, None), None),
        (Samples::given(&network, &array), Some(("calibration", InputPlace::memory(given)))),
        (Samples::made_up(&network, "-3,3".parse().ok()), Some(("range", text("-3,3")))),
    ];
    let mut all = vec![];
    for (samples, place) in ways {
        let sizes = text(&samples.expect("samples").sizes(&network, &secure).to_string());
        let by_sizes = read(&[("sizes", sizes.clone())]).unwrap_or_else(|e| panic!("{e}"));
        let by_inputs = read(place.as_slice()).unwrap_or_else(|e| panic!("{e}"));
        assert!(by_sizes == by_inputs && !by_sizes.is_empty());
        all.push(by_sizes);
        let Some(place) = place else { continue };
        let both = read(&[place, ("sizes", sizes)]).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(both.contains("leave out `sizes`"), "{both}");
    }
    assert!(all[0] != all[1], "scales come from the sizes");
    for odd in [text("3,1"), text("sizes"), InputPlace::memory(vec![])] {
        let error = read(&[("sizes", odd)]).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains("sizes"), "{error}");
    }
}

/// A model and an input at rest, and a recipient: nobody is connected but the parties.
#[test]
fn a_model_and_an_input_are_data_sets() {
    let (model, bytes) = small();
    let input = zoo::sample(&[1, 4], 5);
    let network = Network::new(model, Some(&input.lengths)).expect("a network");
    let floats = Floats::new(&network, &input, true).expect("values");
    let expected = floats.value(network.outputs[0].1).data.clone();
    let secure = Secure::new(&network, Numbers::default(), &Members::default()).expect("a computation");
    let data = |name: &str| Member::Data(name.into());
    let job = of_data_sets(&secure);
    let task = job.task().unwrap_or_else(|e| panic!("{e}"));
    let terms = task.terms().to_string();
    assert!(terms.contains("to: recipient:anna") && terms.contains("data:model"), "{terms}");
    let places = [("model", "model", bytes), ("patients", "input", npy::write(&input))];
    let at_rest = places.map(|(name, file, bytes)| {
        let inputs = BTreeMap::from([(file.to_owned(), InputPlace::memory(bytes))]);
        let columns = stored_inference(&job, &data(name), &inputs).unwrap_or_else(|e| panic!("{e}"));
        let (columns, planes): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        let mut at_rest = AtRest::new(columns);
        for part in 0..parts(&at_rest.columns) {
            let of = |planes: &Vec<Wiped<Vec<u8>>>| planes.get(part as usize).cloned().unwrap_or_default();
            at_rest.put(planes.iter().map(of).collect());
        }
        (name.to_owned(), at_rest)
    });
    let sinks = [0; 3].map(|_| Arc::new(Sink::default()));
    let mut all = configs(&task);
    for (me, config) in &mut all {
        if let Member::Party(party) = me {
            config.stored = at_rest.iter().map(|(name, of)| (name.clone(), of.at(*party))).collect();
            config.sealed = Some(sinks[usize::from(*party)].clone());
        }
    }
    for (me, ended) in run_all(&task, all) {
        let outcome = ended.unwrap_or_else(|e| panic!("{me}: {e}"));
        assert!(outcome.learnt.lengths.is_none(), "{me} learns nothing");
    }
    let shares = sinks.each_ref().map(|sink| sink.of("anna").unwrap_or_else(|| panic!("a share")));
    let opened = Job::Infer(job).open_sealed("anna", &shares).unwrap_or_else(|e| panic!("{e}"));
    let found: Vec<f64> = opened.json["output"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(serde_json::Value::as_f64)
        .collect();
    assert_eq!(found.len(), expected.len(), "{:?}", opened.json);
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found - f64::from(*expected)).abs() < 0.01, "{found} and {expected}");
    }
}
