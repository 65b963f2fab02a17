//! Messages for people: they name the member, the operation, and a valid way to write it.

use crate::{Builder, Computation, Scalar, Shape, Tensor, evaluate};
use std::collections::BTreeMap;

fn refused(lines: &str) -> String {
    let head = "computation c\nmembers ann, bob\nsymbols n, m\ninput price: u64[n] from ann\ninput rate: fixed(32, 16) from bob\n\
                input far: i8[m] from bob\ninput flag: bool[n] from ann\n";
    format!("{head}{lines}\n").parse::<Computation>().unwrap_err().to_string()
}

#[test]
fn mistakes_name_operands_place_and_remedy() {
    for (lines, message) in [
        (
            "z = price + rate\noutput z to ann",
            "line 8, column 11: `+` of price: u64[n] and rate: fixed(32, 16); operands have one type: write cast(rate, u64), or cast the other",
        ),
        (
            "z = far < cast(price, i8)",
            "line 8, column 9: `<` of far: i8[m] and (cast): i8[n]; operands have one shape, or are single elements",
        ),
        (
            "z = price + 1.5",
            "line 8, column 13: 1.5 is not exact in u64; write a whole number, or take a fixed type",
        ),
        (
            "z = rate + 0.1",
            "line 8, column 12: 0.1 is not exact in fixed(32, 16); write 0.100006103515625, the nearest that there is; more fractional \
             bits have nearer ones",
        ),
        ("z = price + -1", "line 8, column 13: -1 does not fit u64; take a wider type, or a smaller number"),
        (
            "z = prise",
            "line 8, column 5: there is no value prise; declare it as an input, or compute it in a line before",
        ),
        (
            "z = rate * rate * rate",
            "line 8, column 17: `*` of (*): fixed(32, 32) and rate: fixed(32, 16) has 48 fractional bits; rescale a factor, or cast both to more than 32 bits",
        ),
        ("z = sum(flag)", "line 8, column 5: `sum` of flag: bool[n]; it takes numbers"),
        (
            "z = sum(price, axis=1)",
            "line 8, column 5: `sum` along axis 1 of price: u64[n]; it has 1 axes, counted from 0",
        ),
        (
            "z = price << 64",
            "line 8, column 11: `<<` by 64 leaves nothing of price: u64[n]; it shifts by 0 to 63 bits",
        ),
        (
            "z = permute(price, price)",
            "line 8, column 5: `permute` by price: u64[n]; its second operand is a permutation, such as order(…) makes",
        ),
        (
            "z = select(price, price, price)",
            "line 8, column 5: `select` chooses by price: u64[n]; its first operand is a truth value, such as a comparison",
        ),
        ("price = price", "line 8, column 1: there is a value price already; give each a name of its own"),
        (
            "output z = price to carl",
            "line 8, column 21: there is no member carl; write `members carl` before, or mend the name",
        ),
        ("z = 3", "line 8, column 5: the type of 3 is not known; write const(u64, 3), say"),
        (
            "z = foo(price)",
            "line 8, column 5: there is no operation foo; docs/jobs.md and docs/reference/operations.md list all",
        ),
        ("z = price +", "line 8, column 12: the end of the line stands here; a value is expected"),
        ("z = (price", "line 8, column 11: the end of the line stands here; `)` is expected"),
        (
            "input w: u65536 from ann",
            "line 8, column 10: `u65536` is no type; types are bool, i1 to i128, u1 to u128, fixed(bits, fraction) and bits(n)",
        ),
        ("input w: u8[k] from ann", "line 8, column 7: k in u8[k] is no symbol; write `symbols k` before"),
        ("z = price $ 2", "line 8, column 11: `$` stands for nothing here; comments begin with #"),
        ("z = 1 < 2 < 3", "line 8, column 11: `<` stands here; the end of the line is expected"),
        ("z = price", "line 1, column 1: computation c has no output; say who learns what"),
    ] {
        assert_eq!(refused(lines), message);
    }
}

#[test]
fn windows_and_scans_name_their_operands() {
    let refused = |lines: &str| {
        let head = "computation c\nmembers m\nsymbols n\ninput x: i8[n, 4, 6, 7] from m\ninput k: i8[6, 2, 3, 3] from m\n\
                    input d: i16[6, 4, 3, 3] from m\ninput v: i8[n] from m\ninput f: bool[n] from m\ninput s: bits(4090) from m\n";
        let text = format!("{head}output z = {lines} to m\n");
        text.parse::<Computation>().unwrap_err().to_string()
    };
    let conv = "`conv2d` of x: i8[n, 4, 6, 7] and k: i8[6, 2, 3, 3]";
    for (expr, message) in [
        (
            "conv2d(x, k)",
            format!(
                "{conv}; a kernel has as many channels as its group, and groups have as many kernels each"
            ),
        ),
        ("conv2d(x, k, groups=0)", format!("{conv}; a kernel has as many channels as its group")),
        (
            "conv2d(x, k, groups=2, stride=[0, 1])",
            format!("{conv}; kernels have a row and a column at least and fit the padded image"),
        ),
        (
            "conv2d(x, d)",
            "`conv2d` of x: i8[n, 4, 6, 7] and d: i16[6, 4, 3, 3]; operands have one type: write cast(d, i8)"
                .into(),
        ),
        (
            "conv2d(x, v)",
            "`conv2d` of x: i8[n, 4, 6, 7] and v: i8[n]; it takes [images, channels, rows, columns]".into(),
        ),
        (
            "conv2d(x, k, groups=2, stride=[1])",
            "`conv2d` has other arguments than it takes; 2 numbers from 0 are expected in brackets".into(),
        ),
        ("max(v)", "`max` has other arguments than it takes; it compares two, and of one column it is max_of(x)".into()),
        (
            "histogram(v, [0, 1])",
            "`histogram` has other arguments than it takes; write a list with its type, as in const(u8[3], [1, 2, 4])"
                .into(),
        ),
        ("conv2d(x, k, size=[1])", "`conv2d` has no argument size; it has stride and pad".into()),
        ("conv2d(x, k, stride=[1, 1], stride=[1, 1])", "stride stands twice; write it once".into()),
        (
            "pool_max(x, [7, 1])",
            "`pool_max` of x: i8[n, 4, 6, 7]; windows fit the padded plane, and strides are 1 or more".into(),
        ),
        (
            "pool_mean(x, [2, 2], pad=[2, 0, 0, 0])",
            "`pool_mean` of x: i8[n, 4, 6, 7]; there is less padding than a window is wide".into(),
        ),
        ("pool_sum(v, [1, 1])", "`pool_sum` of v: i8[n]; it takes values with rows and columns".into()),
        ("scan_sum(v, v)", "`scan_sum` by v: i8[n]; its first operand is a vector of truth values".into()),
        ("scan_max(f, f)", "`scan_max` of f: bool[n]; it takes numbers".into()),
        ("copy_down(f, k)", "`copy_down` of f: bool[n] and k: i8[6, 2, 3, 3]; both have as many rows".into()),
        (
            "join(s, s)",
            "`join` of s: bits(4090) and s: bits(4090) has 8180 bits; a string has at most 4096".into(),
        ),
        ("join(s, v)", "`join` of s: bits(4090) and v: i8[n]; it takes strings of bits".into()),
        ("wrapping(f)", "`wrapping` of f: bool[n]; it takes numbers".into()),
    ] {
        assert!(refused(expr).contains(&message), "{expr}: {}", refused(expr));
    }
}

#[test]
fn the_builder_tells_the_first_mistake() {
    let b = Builder::new("c");
    let ann = b.member("ann");
    let price = b.input("price", Scalar::unsigned(64), Shape::vector(3), ann);
    let rate = b.input("rate", Scalar::signed(8), Shape::scalar(), ann);
    let wrong = price * rate;
    b.output("z", (wrong + wrong).sum(), &[ann]);
    let message = b.finish().unwrap_err().to_string();
    assert_eq!(
        message,
        "`*` of price: u64[3] and rate: i8; operands have one type: write cast(rate, u64), or cast the other"
    );
}

#[test]
fn inputs_that_do_not_fit_are_named() {
    let c: Computation = "computation c\nmembers ann\nsymbols n\ninput x: u8[n] from ann\ninput y: u8[n] from ann\noutput z = x + y to ann\n"
        .parse()
        .unwrap();
    let vector = |n: usize| Tensor::zeros(Scalar::unsigned(8), &[n]);
    let with = |x: Tensor, y: Option<Tensor>| {
        let mut given = BTreeMap::from([("x".to_owned(), x)]);
        given.extend(y.map(|y| ("y".to_owned(), y)));
        evaluate(&c, &given).map_err(|e| e.to_string())
    };
    assert!(with(vector(2), Some(vector(2))).is_ok());
    let message = with(vector(2), Some(vector(3))).unwrap_err();
    assert_eq!(message, "input \"y\": its n is 3, that of x is 2; bring as many of both");
    assert_eq!(with(vector(2), None).unwrap_err(), "input \"y\": it is missing; bring it");
    let message = with(vector(2), Some(Tensor::zeros(Scalar::signed(8), &[2]))).unwrap_err();
    assert_eq!(message, "input \"y\": it is i8 with axes [2], not u8[n]; bring values of that type");
}

#[test]
fn products_without_bits_before_the_point_are_remarked() {
    let of = |inputs: &str, expr: &str| {
        let text = format!("computation c\nmembers m\n{inputs}\noutput z = {expr} to m\n");
        text.parse::<Computation>().unwrap().remarks()
    };
    let two = "input x: fixed(32, 16)[2] from m\ninput y: fixed(32, 16)[2] from m";
    assert_eq!(
        of(two, "rescale(x * -y, 16)"),
        [
            "`*` of x: fixed(32, 16)[2] and (-): fixed(32, 16)[2] has 32 fractional bits and none before the point, so that products from \
          0.5 on wrap: multiply(x, y) keeps their type; or cast both to more bits before"
        ]
    );
    let matrices = "input x: fixed(8, 4)[2, 2] from m";
    assert!(of(matrices, "matmul(x, x)")[0].ends_with("from 0.5 on wrap: cast both to more bits before"));
    for expr in ["multiply(x, y)", "wrapping(x) * y", "x * cast(y, fixed(32, 0))", "x + y", "divide(x, y)"] {
        assert_eq!(of(two, expr), [""; 0], "{expr}");
    }
    let small = "input x: fixed(32, 16) in -0.5..0.5 from m";
    assert_eq!(of(small, "x * x"), [""; 0], "what is promised fits");
    assert_eq!(of("input x: fixed(32, 12) from m", "x * x"), [""; 0], "8 bits are left");
    assert_eq!(
        of(two, "mean(x)"),
        [
            "`mean` of x: fixed(32, 16)[2] adds up in fixed(32, 16), and wraps where the sum does not fit: cast it to more bits before, or \
          promise a range"
        ]
    );
    for (inputs, expr) in [
        (two, "mean(cast(x, fixed(64, 16)))"),
        (two, "mean(wrapping(x))"),
        ("input x: u16[9] in 0..1000 from m", "mean(x)"),
        ("input x: i64[9] from m", "mean(x)"),
    ] {
        assert_eq!(of(inputs, expr), [""; 0], "{expr}");
    }
}

#[test]
fn groups_whose_rows_line_up_with_no_column_beside_them_are_remarked() {
    let of = |order: &str, outputs: &[&str]| {
        let outputs: String =
            outputs.iter().enumerate().map(|(i, o)| format!("output o{i} = {o} to m\n")).collect();
        let text = format!(
            "computation c\nmembers m\nsymbols n\ninput k: u8[n] from m\ninput j: u8[n] from m\ninput x: i32[n] from m\n\
             o = order({order})\nks = permute(k, o)\njs = permute(j, o)\nxs = permute(x, o)\n{outputs}"
        );
        text.parse::<Computation>().unwrap().remarks()
    };
    assert_eq!(
        of("desc k", &["ks", "group_sum(xs, ks)", "group_count(ks)"]),
        [
            "groups by ks come in ascending order of ks, whatever the order of its rows, so that figures of groups stand in other rows than \
             ks: group_last(ks, ks) has the keys beside them"
        ]
    );
    for (order, outputs) in [
        ("j", &["group_sum(xs, ks)"][..]),
        ("j, k", &["group_count(ks)"]),
        ("k, desc j", &["group_sum(xs, ks, js)"]),
        ("k", &["group_sum(x, k)", "k"]),
    ] {
        assert_eq!(of(order, outputs).len(), 1, "{order}: {outputs:?}");
    }
    assert!(of("k, j", &["group_sum(x, k, j)", "j"])[0].contains("groups by k, j come"));
    for (order, outputs) in [
        ("k", &["ks", "group_sum(xs, ks)"][..]),
        ("k, desc j", &["ks", "group_max(xs, ks)"]),
        ("k, j", &["ks", "js", "group_end(ks, js)"]),
        ("desc k", &["ks", "group_sum(x, k)", "group_last(k, k)"]),
    ] {
        assert_eq!(of(order, outputs), [""; 0], "{order}: {outputs:?}");
    }
}
