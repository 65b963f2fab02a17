//! `compute` and `local compute`: computations on CSV columns, in the open and among processes.

use crate::common::{self, Place, good};

const BILL: &str = "computation bill\nmembers shop, client\nsymbols n\n\
    input price: i32[n] from shop\ninput amount: i32[n] from client\n\
    output total = sum(price * amount) to shop, client\noutput dear = price > 100 to client\n";

/// Writes the prices and amounts of three articles.
pub(crate) fn bill() -> Place {
    let place = Place::new();
    place.put("bill.hwc", BILL.as_bytes());
    place.put("shop.csv", b"article,price\npencil,120\n\"paper, white\",-450\nink,99\n");
    place.put("order.csv", b"article,amount\r\npencil,10\r\npaper,1\r\nink,3\r\n");
    place
}

pub(crate) const IN: &str = "--in shop/price=shop.csv:price --in amount=order.csv";

fn bad(place: &Place, args: &str, code: i32, words: &[&str]) {
    let before = place.names();
    common::bad(place, args, code, words);
    assert_eq!(place.names(), before, "nothing is left of a run that failed");
}

/// The protocols are compared with the evaluator in `crates/hushwire`; here, their options reach
/// the job.
#[test]
fn every_protocol_gives_what_the_open_one_gives() {
    let place = bill();
    let open = good(&place, &format!("compute eval bill.hwc {IN}"));
    assert_eq!(open.out, "total=1047\ndear=[true, false, false]\n");
    for options in [
        "--transport shm",
        "--protocol yao --scheme three-halves --transport unix",
        "--protocol gmw --ot ferret-b10 --transport unix",
        #[cfg(feature = "two")]
        "--protocol two --transport unix",
    ] {
        let ran = good(&place, &format!("local compute bill.hwc {IN} {options}"));
        assert_eq!(ran.out, open.out, "{options}: {}", ran.err);
        assert!(ran.err.contains("computed bill of n = 3"), "{}", ran.err);
    }
}

/// Five parties of which four may be corrupted, as in docs/jobs.md.
#[test]
fn five_salaries_among_people_who_trust_nobody() {
    let place = Place::new();
    place.put("five.hwc", include_bytes!("../../../../examples/compute/salaries-five.hwc"));
    let pay = "--value ada_pay=3100 --value bob_pay=2800 --value cleo_pay=4200 --value dan_pay=3600 --value eve_pay=2900";
    let ran = good(&place, &format!("local compute five.hwc {pay} --protocol authgarble:5 --transport unix"));
    let expected =
        "sum=16600\nada_below=true\nbob_below=true\ncleo_below=false\ndan_below=false\neve_below=true\n";
    assert_eq!(ran.out, expected, "{}", ran.err);
    assert!(ran.err.contains("among five parties"), "{}", ran.err);
}

#[test]
fn outputs_go_to_csv_and_records_that_only_their_owner_reads() {
    let place = bill();
    let run =
        format!("local compute bill.hwc {IN} --transport unix --out total=total.bin --out dear=dear.csv");
    let ran = good(&place, &format!("{run} --json report.json"));
    assert_eq!(ran.out, "", "{}", ran.err);
    assert_eq!(place.get("total.bin"), 1047i32.to_le_bytes());
    assert_eq!(place.get("dear.csv"), b"dear\ntrue\nfalse\nfalse\n");
    for name in ["total.bin", "dear.csv", "report.json"] {
        assert_eq!(place.mode(name), 0o600, "{name}");
    }
    // The same job may replace its outputs, but never its inputs.
    good(&place, &run);
    let over = "local compute bill.hwc --in price=shop.csv --in amount=order.csv --force --out dear=";
    bad(&place, &format!("{over}shop.csv"), 5, &["shop.csv", "that would overwrite input price"]);
    bad(&place, &format!("{over}bill.hwc"), 5, &["that would overwrite the computation"]);
    let report: serde_json::Value = serde_json::from_slice(&place.get("report.json")).unwrap_or_default();
    assert_eq!(report["symbols"]["n"], 3);
    assert_eq!(report["clients"].as_array().map(Vec::len), Some(2));
    let ran = good(&place, &format!("local compute bill.hwc {IN} --transport unix --json -"));
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap_or_default();
    assert_eq!(report["outputs"], serde_json::json!({ "total": 1047, "dear": [true, false, false] }));
}

/// An array that was written is read again, and a file of another format is neither written nor
/// read.
#[test]
fn outputs_go_to_arrays_of_numpy() {
    let place = Place::new();
    let text = "computation c\nmembers m\nsymbols n\ninput x: i12[n, 2] from m\noutput z = transpose(x, [1, 0]) to m\n";
    place.put("c.hwc", text.as_bytes());
    place.put("back.hwc", text.replace("i12", "i64").as_bytes());
    let value = "--value x=-2048,2047,5,-6";
    for command in ["compute eval c.hwc", "local compute c.hwc --transport unix"] {
        good(&place, &format!("{command} {value} --out z=z.npy --force"));
        let array = place.get("z.npy");
        assert!(array.starts_with(b"\x93NUMPY") && array.windows(3).any(|kind| kind == b"<i2"), "{command}");
        let elements: Vec<u8> = [-2048i16, 5, 2047, -6].iter().flat_map(|n| n.to_le_bytes()).collect();
        assert!(array.ends_with(&elements), "{command}");
        assert_eq!(good(&place, "compute eval back.hwc --in x=z.npy").out, "z=[[-2048, 2047], [5, -6]]\n");
        let words = ["preparing output z", "the name of a format that is not written", ".npy"];
        bad(&place, &format!("{command} {value} --out z=z.npz"), 2, &words);
    }
    place.put("z.npz", b"PK\x03\x04 is the begin of an archive, in 48 bytes.....");
    place.put("text.npy", b"1,2\n3,4\n");
    bad(&place, "compute eval back.hwc --in x=z.npz", 4, &["z.npz", "it is a ZIP archive"]);
    bad(&place, "compute eval back.hwc --in x=text.npy", 4, &["text.npy", "it is text", "numpy.loadtxt"]);
}

#[test]
fn records_matrices_and_values_on_the_command_line() {
    let place = Place::new();
    let text = "computation c\nmembers m, w\nsymbols n\ninput x: i12[n, 2] from m\ninput y: fixed(16, 8)[2] from w\n\
        input k: i12 from w\noutput z = transpose(x, [1, 0]) + k to w\noutput twice = y + y to m\n";
    place.put("c.hwc", text.as_bytes());
    let records: Vec<u8> = [-2048i16, 2047, 5, -6].iter().flat_map(|n| n.to_le_bytes()).collect();
    place.put("x.bin", &records);
    place.put("x.csv", b"p,q,r\n-2048,,2047\n5,,-6\n");
    let rest = "--value y=-0.5,1.25 --value w/k=1";
    let expected = "z=[[-2047, 6], [-2048, -5]]\ntwice=[-1.0, 2.5]\n";
    assert_eq!(good(&place, &format!("compute eval c.hwc --in x=x.bin {rest}")).out, expected);
    let ran = good(&place, &format!("local compute c.hwc --in m/x=x.csv:p,r {rest} --transport unix"));
    assert_eq!(ran.out, expected);
    let run = "local compute c.hwc --in x=x.bin --value y=0,0 --value k=0 --transport unix";
    good(&place, &format!("{run} --out z=z.csv"));
    assert_eq!(place.get("z.csv"), b"z_0,z_1\n-2048,5\n2047,-6\n");
    let empty = good(&place, "local compute c.hwc --value x= --value y=0,0 --value k=0 --transport unix");
    assert_eq!(empty.out, "z=[[], []]\ntwice=[0.0, 0.0]\n");
}

/// Options of text files, as tables of queries have them.
#[test]
fn decimals_with_commas_are_read_by_options() {
    let place = Place::new();
    let text =
        "computation c\nmembers a\nsymbols n\ninput x: fixed(32, 2)[n] from a\noutput z = sum(x) to a\n";
    place.put("c.hwc", text.as_bytes());
    place.put("x.csv", b"name;x\nA;1.234,50\nB;-0,25\n");
    let options = "--decimal , --thousands .";
    for (command, input) in [("compute eval c.hwc", "x"), ("local compute c.hwc --transport unix", "a/x")] {
        let run = format!("{command} --in {input}=x.csv:x");
        assert_eq!(good(&place, &format!("{run} {options}")).out, "z=1234.25\n");
        bad(&place, &run, 4, &["x.csv", "1.234,50"]);
    }
}

#[test]
fn lengths_that_differ_and_files_of_no_records_are_named() {
    let place = bill();
    place.put("shop.csv", b"price\n1\n2\n");
    let run = format!("local compute bill.hwc {IN} --transport unix --out total=t.csv");
    bad(&place, &run, 4, &["n is 2 at client shop and 3 at client client; bring as many rows of both"]);
    place.put("odd.bin", &[1, 2, 3]);
    let run = "local compute bill.hwc --in price=odd.bin --in amount=order.csv --transport unix";
    bad(&place, run, 4, &["odd.bin: it has 3 bytes, and an element of i32 has 4"]);
}

#[test]
fn a_length_that_no_input_has_is_refused() {
    let place = bill();
    let all = "--in price=shop.csv --in amount=order.csv --symbol n=4";
    bad(&place, &format!("local compute bill.hwc {all}"), 4, &["its n is 3, the agreed one is 4"]);
    place.put(
        "huge.hwc",
        b"computation h\nmembers m\nsymbols n\ninput x: u64 from m\noutput y = broadcast(x, [n]) to m\n",
    );
    let huge = "local compute huge.hwc --value x=1 --symbol n=99999999999 --transport unix";
    bad(&place, huge, 2, &["a value is u64[99999999999], more than this machine takes"]);
    assert_eq!(good(&place, "compute eval huge.hwc --value x=7 --symbol n=2").out, "y=[7, 7]\n");
    let unset = "local compute huge.hwc --value x=1 --transport unix";
    bad(&place, unset, 2, &["no input says how long n is; write n = … under [symbols]"]);
}

const RATES: &str = "computation rates\nmembers bank, shop\nsymbols n\ninput rate: u16[n] public\n\
    input amount: u16[n] from shop\ninput seed: u16 secret\n\
    output due = sum(amount * rate) + seed to bank\noutput most = max_of(rate) + max_of(rate) to shop\n";

#[test]
fn public_values_are_everybodys_and_secret_ones_are_brought_by_whom_the_job_says() {
    let place = Place::new();
    place.put("rates.hwc", RATES.as_bytes());
    place.put("rates.csv", b"year,rate\n1,3\n2,500\n3,7\n");
    place.put("sold.csv", b"amount\n10\n20\n30\n");
    let given = "--in rate=rates.csv --in shop/amount=sold.csv --value";
    let expected = "due=10241\nmost=1000\n";
    assert_eq!(good(&place, &format!("compute eval rates.hwc {given} seed=1")).out, expected);
    for (owner, options) in [("client:carl", ""), ("shop", "--protocol yao")] {
        let run = format!("local compute rates.hwc {given} {owner}/seed=1 {options} --transport unix");
        assert_eq!(good(&place, &run).out, expected, "{owner} {options}");
    }
    let run = |rest: &str| format!("local compute rates.hwc --in rate=rates.csv --in amount=sold.csv {rest}");
    place.put("rates.csv", b"rate\n3\n");
    bad(&place, &run("--value bank/seed=1"), 4, &["its n is 3, the agreed one is 1"]);
    // A job file has separate tables for them.
    place.put("rates.csv", b"rate\n3\n500\n7\n");
    place.put(
        "job.toml",
        b"computation = \"rates.hwc\"\n[public]\nrate = { csv = \"rates.csv\", column = \"rate\" }\n\
          [owners]\nseed = \"client:carl\"\n",
    );
    let run = "local compute job.toml --in amount=sold.csv --value seed=1 --transport unix";
    assert_eq!(good(&place, run).out, expected);
    bad(
        &place,
        &format!("{run} --out due=rates.csv --force"),
        5,
        &["that would overwrite public input rate"],
    );
}

#[test]
fn the_canonical_form_is_the_same_computation() {
    let place = bill();
    let ran = good(&place, "compute format bill.hwc");
    place.put("again.hwc", ran.out.as_bytes());
    assert_eq!(good(&place, "compute format again.hwc").out, ran.out);
    let check = |file: &str| good(&place, &format!("compute check {file}")).out;
    assert_eq!(check("again.hwc"), check("bill.hwc"));
    good(&place, "compute format bill.hwc --out out.hwc");
    assert_eq!(place.get("out.hwc"), ran.out.as_bytes());
}

#[test]
fn shapes_that_overflow_and_columns_without_rows() {
    let place = bill();
    let text = "computation h\nmembers m\ninput x: u8[4294967296, 4294967296, 2] from m\noutput y = x to m\n";
    place.put("h.hwc", text.as_bytes());
    bad(&place, "local compute h.hwc --value x=1", 2, &["more than this machine takes"]);
    // Zero rows is a valid length.
    place.put("shop.csv", b"price\n");
    place.put("order.csv", b"amount\n");
    let ran = good(&place, &format!("local compute bill.hwc {IN} --transport unix"));
    assert_eq!(ran.out, "total=0\ndear=[]\n");
}

#[test]
fn values_at_the_edge_of_their_promise_are_taken() {
    let place = Place::new();
    let text = "computation kept\nmembers m, w\nsymbols n\ninput x: u16[n] in 0..1000 from m\ninput y: u16[n] from m\n\
        output s = sum(x * y) to w\n";
    place.put("kept.hwc", text.as_bytes());
    let run = "local compute kept.hwc --value m/x=5,999 --value m/y=1,2 --transport unix";
    assert_eq!(good(&place, run).out, "s=2003\n");
}

#[test]
fn a_product_that_wraps_early_is_remarked_wherever_it_is_read() {
    let place = Place::new();
    let text = |product: &str| {
        format!(
            "computation area\nmembers a, b\ninput x: fixed(32, 16) from a\ninput y: fixed(32, 16) from b\noutput z = {product} to a\n"
        )
    };
    place.put("kept.hwc", text("multiply(x, y)").as_bytes());
    place.put("wraps.hwc", text("rescale(x * y, 16)").as_bytes());
    let values = "--value a/x=1.5 --value b/y=-2";
    let ran = good(&place, &format!("local compute kept.hwc {values} --transport unix"));
    assert_eq!((ran.out.as_str(), ran.err.contains("warning")), ("z=-3.0\n", false), "{}", ran.err);
    for run in ["compute eval", "local compute --transport unix"] {
        let ran = good(&place, &format!("{run} wraps.hwc {values}"));
        let warning = "warning: `*` of x: fixed(32, 16) and y: fixed(32, 16) has 32 fractional bits and none before the point";
        assert!(ran.err.contains(warning) && ran.err.matches("warning").count() == 1, "{run}: {}", ran.err);
    }
    assert!(good(&place, "compute check wraps.hwc").err.contains("multiply(x, y) keeps their type"));
}

/// `compute check` notes that groups have another order than their column.
#[test]
fn groups_in_another_order_are_remarked() {
    let place = Place::new();
    let text = "computation c\nmembers m\nsymbols n\ninput x: i32[n] from m\noutput x to m\noutput y = group_count(x) to m\n";
    place.put("groups.hwc", text.as_bytes());
    let ran = good(&place, "compute check groups.hwc");
    assert!(ran.err.contains("group_last(x, x) has the keys beside them"), "{}", ran.err);
}

/// A decimal that `fixed` cannot represent becomes the nearest representable number. Its owner gets
/// a note, whatever the source of the value.
#[test]
fn decimals_are_rounded_and_their_owner_is_told() {
    let place = Place::new();
    place.put(
        "cents.hwc",
        b"computation cents\nmembers a\ninput x: fixed(128, 120)[1] from a\noutput y = x to a\n",
    );
    place.put("c.csv", b"x\n7.99\n");
    let note = "input x: 1 number is rounded to the nearest multiple of 2^-120, which fixed(128, 120) has; the first is in c.csv, line 2, \
                column x";
    for (command, json) in [
        ("local compute cents.hwc --transport unix --in a/x=c.csv:x", "a"),
        ("compute eval cents.hwc --in x=c.csv:x", "b"),
    ] {
        let ran = good(&place, &format!("{command} --json {json}.json"));
        assert!(ran.out.starts_with("y=[7.9899999999999999999999999999999999"), "{}", ran.out);
        assert_eq!(ran.err.matches(note).count(), 1, "{command}: {}", ran.err);
        let report: serde_json::Value =
            serde_json::from_slice(&place.get(&format!("{json}.json"))).unwrap_or_default();
        assert_eq!(report["remarks"], serde_json::json!([note]), "{command}");
    }
    place.put(
        "rate.hwc",
        b"computation rate\nmembers a\nsymbols n\ninput r: fixed(16, 8)[n] public\ninput x: fixed(16, 8)[n] from a\noutput y = x + r to a\n",
    );
    let ran = good(
        &place,
        "local compute rate.hwc --value r=0.1,0.5,0.3 --value a/x=1,2,0.25 --transport unix --json -",
    );
    let public = "input r: 2 numbers are rounded to the nearest multiple of 2^-8, which fixed(16, 8) has; the first is element 1";
    assert_eq!(ran.err.matches(public).count(), 1, "{}", ran.err);
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap_or_default();
    assert_eq!(report["remarks"], serde_json::json!([public]));
    // An exact value causes no note.
    let ran = good(&place, "local compute rate.hwc --value r=0.5 --value a/x=1 --transport unix --json -");
    assert!(!ran.err.contains("rounded") && ran.out.contains("\"remarks\": []"), "{}{}", ran.err, ran.out);
    bad(&place, "compute eval rate.hwc --value r=127.999 --value x=1", 4, &["does not fit fixed(16, 8)"]);
}
