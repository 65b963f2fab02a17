//! Explanations for members.

use crate::Computation;

#[test]
fn members_hear_what_they_bring_and_learn() {
    let text = "computation bill\nmembers shop, client, judge\nsymbols n\n\
                input price: u64[n] from shop\ninput amount: u64[n] in 0..1000 from client\ninput rate: u64 public\ninput old: u64 secret\n\
                paid = sum(price * amount) + old\nmany = reveal(count(amount > 0))\n\
                seen = reveal(paid / rate, to=judge)\n\
                output total = select(many > 9, paid, paid - seen) to client\n";
    let told = text.parse::<Computation>().unwrap().explain();
    assert_eq!(
        told,
        "bill\n\
        \x20 shop brings price: u64[n] and learns nothing\n\
        \x20 client brings amount: u64[n] in 0..1000 and learns total: u64\n\
        \x20 judge brings nothing and learns a value in between: u64\n\
        \x20 known to all: rate: u64\n\
        \x20 brought as shares: old: u64\n\
        \x20 opened to all on the way: a value in between: u64\n\
        \x20 all learn this computation and its lengths, n, and nothing else\n"
    );
}

#[test]
fn what_a_sort_opens_is_said_once() {
    let told = |body: &str| {
        let text = format!(
            "computation c\nmembers m, k\nsymbols n\ninput x: u8[n] from m\ninput y: u8[n] from k\n{body}\n"
        );
        text.parse::<Computation>().unwrap().explain()
    };
    let sorted =
        told("z = x + y\noutput a = permute(x, order(z)) to m\noutput b = permute(y, order(desc z)) to m");
    assert_eq!(
        sorted.matches("among three parties `order` opens comparisons of rows that were shuffled").count(),
        1
    );
    assert!(
        told("output a = compact(x < y, x, rows=3) to m").contains("`compact` opens a random permutation")
    );
    for quiet in ["output a = sum(x + y) to m", "r = reveal(x)\noutput a = permute(y, order(r)) to m"] {
        assert!(!told(quiet).contains("opens"), "{quiet}");
    }
}
