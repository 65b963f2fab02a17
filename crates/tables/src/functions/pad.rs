//! The SQL function PAD.

use super::{
    ComputedBy, FnDef, Leaks, Letters, Meaning, Primitive,
    text::{self, characters, checked, literal, of_public, public, value, varchar},
};
use crate::{
    algebra::{MAX_TEXT, Value},
    lower::bytes::{NOTHING, choose_byte, circuit, count, is_some, joined, letter, read, to_back, write},
};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["lpad", "rpad"],
    arity: 2..=3,
    usage: "LPAD(text, length, fill)",
    gives: "VARCHAR(length)",
    doc: "the text, cut or filled at its front with another one, a blank if it is left out, to a length in characters; RPAD fills the end; both are literals",
    example: "LPAD(name, 12, '.')",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&PAD, |of, arguments| {
        let length = text::literal_number(arguments, 1, 0)?;
        let fill = if arguments.all.len() == 2 { b" ".to_vec() } else { literal(arguments, 2)? };
        if !(1..=MAX_TEXT.into()).contains(&length) || fill.is_empty() || !fill.is_ascii() {
            return Err(arguments.unsupported(
                "LPAD or RPAD to no length, or by no character of ASCII",
                "write a length from 1 to 512 and a filling of ASCII, as in LPAD(code, 5, '0')",
            ));
        }
        let all = [vec![length, i128::from(arguments.name == "lpad")], public(&fill)].concat();
        Ok(of.call(vec![text::text(arguments.all[0].clone())], all))
    }),
};

pub(super) static PAD: Primitive = Primitive {
    name: "PAD",
    strict: true,
    by: ComputedBy::OwnerFirst(Letters::Ascii),
    check: |operands| {
        checked(operands, 0)?;
        let (length, .., room) = parts(operands.public);
        Ok(varchar(length.max(room)))
    },
    plain: |typed, values| {
        let (length, front, fill, _) = parts(typed.operands.public);
        let text = characters(value(&values, 0), 0, length);
        let free = length - String::from_utf8_lossy(&text).chars().count();
        let filling = fill.iter().cycle().take(free).copied().collect();
        Value::Text(if front { [filling, text].concat() } else { [text, filling].concat() })
    },
    lower: |typed, cells| {
        let (length, front, fill, _) = parts(typed.operands.public);
        let bytes = text::bytes(typed.own.ty);
        typed.cell(circuit(&[cells[0].val], |c, bits| {
            let mut text = read(&bits[0]);
            text.resize(length, NOTHING);
            let filling: Vec<_> = fill.iter().cycle().take(length).map(|byte| letter(*byte)).collect();
            if !front {
                let all = joined(c, &text, &filling, 2 * length);
                return write(&all[..length], bytes);
            }
            // The text is moved to the end, by the number of free bytes.
            let free: Vec<_> = text
                .iter()
                .map(|byte| {
                    let some = is_some(c, *byte);
                    c.not(some)
                })
                .collect();
            let places = count(c, &free);
            let mut moved = text;
            for (bit, condition) in places.iter().enumerate() {
                moved = to_back(c, &moved, 1 << bit, *condition);
            }
            let made = moved.iter().zip(filling).map(|(byte, fill)| {
                let some = is_some(c, *byte);
                choose_byte(c, some, *byte, fill)
            });
            let made: Vec<_> = made.collect();
            write(&made, bytes)
        }))
    },
    shown: |_, operands, public| {
        let (length, front, fill, _) = parts(public);
        let name = if front { "LPAD" } else { "RPAD" };
        format!("{name}({}, {length}, '{}')", operands.join(", "), String::from_utf8_lossy(&fill))
    },
};

/// The length, whether the front is filled, the filling, and the bytes that an enclosing CAST
/// allows.
fn parts(public: &[i128]) -> (usize, bool, Vec<u8>, usize) {
    (public[0] as usize, public[1] & 1 == 1, of_public(&public[2..]), (public[1] >> 1) as usize)
}

/// The public arguments of a call whose result may have more bytes than characters.
pub(super) fn roomy(public: &[i128], bytes: u16) -> Vec<i128> {
    let mut public = public.to_vec();
    public[1] = public[1] & 1 | i128::from(bytes) << 1;
    public
}

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType, Expr, Schema, Value},
        functions::{
            tests::{call, int, values},
            with_room,
        },
    };

    #[test]
    fn texts_are_filled_or_cut() {
        let texts = |all: [&str; 4]| -> Vec<Value> { all.map(Value::text).to_vec() };
        let fill = Expr::literal(Value::text("xy"), ColumnType::Varchar(2));
        let column = Column::new("x", ColumnType::Varchar(6)).nullable();
        let given = [(column, texts(["a", "", "abcd", "abcdef"]))];
        assert_eq!(
            values("lpad", &given, &[int(5), fill.clone()]),
            texts(["xyxya", "xyxyx", "xabcd", "abcde"])
        );
        assert_eq!(values("rpad", &given, &[int(5), fill]), texts(["axyxy", "xyxyx", "abcdx", "abcde"]));
    }

    /// An enclosing CAST allows for characters of several bytes.
    #[test]
    fn a_cast_around_gives_room() {
        let text = |of: &str| Expr::literal(Value::text(of), ColumnType::Varchar(8));
        let schema = Schema::default();
        let made = |room: Option<u16>| {
            let made = call("lpad", vec![text("éa"), int(3), text("*")], &schema).unwrap();
            let made = room.map_or(made.clone(), |room| with_room(made, room));
            made.check(&schema).unwrap().ty
        };
        assert_eq!(made(None), ColumnType::Varchar(3));
        assert_eq!(made(Some(12)), ColumnType::Varchar(12));
        assert_eq!(made(Some(2)), ColumnType::Varchar(3));
        let column = Column::new("x", ColumnType::Varchar(6));
        let schema = Schema(vec![column]);
        let made = with_room(call("rpad", vec![Expr::Column(0), int(4)], &schema).unwrap(), 9);
        assert_eq!(made.check(&schema).unwrap().ty, ColumnType::Varchar(9));
    }
}
