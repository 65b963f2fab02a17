//! Parses tokens to statements, which refer to values and members by name and have no types.

use super::{
    lex::Token,
    print::{COMPARISON, SHIFT, UNARY},
};
use crate::{ComputeError, Dim, Scalar, Shape, TextPlace, error::wrong};

/// The deepest nesting of expressions.
const MAX_DEPTH: usize = 64;
/// The largest height of an expression: each left-associative sign adds a level, even without a
/// parenthesis.
const MAX_HEIGHT: usize = 512;

/// A name and its place.
pub(crate) type Named = (String, TextPlace);

/// One line.
pub(crate) enum Statement {
    Computation(Named),
    Members(Vec<Named>),
    Symbols(Vec<Named>),
    /// A circuit's name and the lines of its file.
    Circuit(Named, String),
    Input {
        name: Named,
        scalar: Scalar,
        shape: Shape,
        within: Option<[Item; 2]>,
        from: From,
    },
    Let {
        name: Named,
        value: Expr,
    },
    Output {
        name: Named,
        value: Expr,
        to: Vec<Named>,
    },
}

/// The source of an input.
pub(crate) enum From {
    Public,
    Secret,
    Member(Named),
}

/// A value as it is written.
pub(crate) struct Expr {
    pub(crate) place: TextPlace,
    pub(crate) what: What,
}

/// Kinds of values.
pub(crate) enum What {
    Name(String),
    Truth(bool),
    /// Digits, and whether a minus precedes them.
    Number(String, bool),
    Unary(&'static str, Box<Expr>),
    Binary(&'static str, Box<[Expr; 2]>),
    /// A shift by a number of bits.
    Shift(&'static str, Box<Expr>, u64),
    Call(String, Vec<Argument>),
}

/// An argument of a call.
pub(crate) enum Argument {
    Value { desc: bool, value: Expr },
    Named(Named, Expr),
    Range(u64, u64),
    List(Vec<Item>),
    NamedList(Named, Vec<Item>),
    Type(Scalar, Shape),
}

/// An item of a list: a number, a truth value or the name of a length.
pub(crate) struct Item {
    pub(crate) place: TextPlace,
    pub(crate) text: String,
}

type Parsed<T> = Result<T, ComputeError>;

struct Parser<'a> {
    tokens: &'a [(Token, TextPlace)],
    depth: usize,
    /// The height of the last expression.
    height: usize,
    /// The precedence of a sign between values.
    strength: fn(&str) -> Option<u8>,
}

/// All statements of a text. `strength` gives the precedence of signs between values.
pub(crate) fn statements(
    tokens: &[(Token, TextPlace)],
    strength: fn(&str) -> Option<u8>,
) -> Parsed<Vec<Statement>> {
    let mut parser = Parser { tokens, depth: 0, height: 0, strength };
    let mut statements = vec![];
    while !parser.tokens.is_empty() {
        statements.push(parser.statement()?);
        if !parser.end() {
            return parser.expected("the end of the line");
        }
    }
    Ok(statements)
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        self.tokens.first().map_or(&Token::End, |(token, _)| token)
    }

    fn second(&self) -> &Token {
        self.tokens.get(1).map_or(&Token::End, |(token, _)| token)
    }

    fn place(&self) -> TextPlace {
        self.tokens.first().map_or(TextPlace { line: 1, column: 1 }, |(_, place)| *place)
    }

    fn next(&mut self) {
        self.tokens = &self.tokens[1..];
    }

    fn expected<T>(&self, what: &str) -> Parsed<T> {
        Err(wrong(
            self.place(),
            format!("{} stands here", self.peek().shown()),
            format!("{what} is expected"),
        ))
    }

    fn end(&mut self) -> bool {
        let end = *self.peek() == Token::End;
        if end && !self.tokens.is_empty() {
            self.next();
        }
        end
    }

    fn sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Token::Sign(s) if *s == sign);
        if found {
            self.next();
        }
        found
    }

    fn need(&mut self, sign: &str) -> Parsed<()> {
        if self.sign(sign) { Ok(()) } else { self.expected(&format!("`{sign}`")) }
    }

    fn word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Name(name) if name == word);
        if found {
            self.next();
        }
        found
    }

    fn name(&mut self, what: &str) -> Parsed<Named> {
        match self.peek() {
            Token::Name(name) => {
                let named = (name.clone(), self.place());
                self.next();
                Ok(named)
            }
            _ => self.expected(what),
        }
    }

    fn names(&mut self, what: &str) -> Parsed<Vec<Named>> {
        let mut names = vec![self.name(what)?];
        while self.sign(",") {
            names.push(self.name(what)?);
        }
        Ok(names)
    }

    fn whole(&mut self, what: &str) -> Parsed<u64> {
        if let Token::Number(digits) = self.peek()
            && let Ok(n) = digits.parse()
        {
            self.next();
            return Ok(n);
        }
        self.expected(what)
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let keyword = self.name("a statement, such as `input` or `name = …`,")?;
        if self.sign("=") {
            return Ok(Statement::Let { name: keyword, value: self.expr()? });
        }
        match keyword.0.as_str() {
            "computation" => Ok(Statement::Computation(self.name("the computation's name")?)),
            "members" => Ok(Statement::Members(self.names("a member's name")?)),
            "symbols" => Ok(Statement::Symbols(self.names("a symbol's name")?)),
            "input" => {
                let name = self.name("the input's name")?;
                self.need(":")?;
                let (scalar, shape) = self.ty()?;
                let within = if self.word("in") {
                    let low = self.item()?;
                    self.need("..")?;
                    Some([low, self.item()?])
                } else {
                    None
                };
                let from = if self.word("public") {
                    From::Public
                } else if self.word("secret") {
                    From::Secret
                } else if self.word("from") {
                    From::Member(self.name("a member's name")?)
                } else {
                    return self.expected("`from` and a member, `public` or `secret`");
                };
                Ok(Statement::Input { name, scalar, shape, within, from })
            }
            "circuit" => {
                let name = self.name("the circuit's name")?;
                Ok(Statement::Circuit(name, self.file()?))
            }
            "output" => {
                let name = self.name("the output's name")?;
                let value = if self.sign("=") {
                    self.expr()?
                } else {
                    Expr { place: name.1, what: What::Name(name.0.clone()) }
                };
                if !self.word("to") {
                    return self.expected("`to` and those who learn it");
                }
                Ok(Statement::Output { name, value, to: self.names("a member's name")? })
            }
            word => Err(wrong(
                keyword.1,
                format!("`{word}` begins no statement"),
                "statements are computation, members, symbols, circuit, input, output and `name = …`",
            )),
        }
    }

    /// `u64[n, 3]`, `fixed(32, 16)`.
    fn ty(&mut self) -> Parsed<(Scalar, Shape)> {
        let (mut text, place) = self.name("a type")?;
        if self.sign("(") {
            text += "(";
            loop {
                text += &self.whole("a number of bits")?.to_string();
                if !self.sign(",") {
                    break;
                }
                text += ",";
            }
            self.need(")")?;
            text += ")";
        }
        let scalar = Scalar::parse(&text).ok_or_else(|| {
            let remedy = "types are bool, i1 to i128, u1 to u128, fixed(bits, fraction) and bits(n)";
            wrong(place, format!("`{text}` is no type"), remedy)
        })?;
        let shape = if matches!(self.peek(), Token::Sign("[")) { self.shape()? } else { Shape::scalar() };
        Ok((scalar, shape))
    }

    fn shape(&mut self) -> Parsed<Shape> {
        self.need("[")?;
        let mut dims = vec![];
        while !self.sign("]") {
            dims.push(match self.peek() {
                Token::Name(_) => Dim::from(self.name("a length")?.0.as_str()),
                _ => Dim::Known(self.whole("a length: a number or a symbol,")?),
            });
            if !self.sign(",") {
                self.need("]")?;
                break;
            }
        }
        Ok(Shape(dims))
    }

    fn expr(&mut self) -> Parsed<Expr> {
        self.binary(0)
    }

    fn binary(&mut self, level: u8) -> Parsed<Expr> {
        if level == UNARY {
            return self.unary();
        }
        let mut left = self.binary(level + 1)?;
        loop {
            let (place, sign) = match self.peek() {
                Token::Sign(sign) if (self.strength)(sign) == Some(level) => (self.place(), *sign),
                _ => return Ok(left),
            };
            self.next();
            let height = self.height;
            self.height = 0;
            let what = if level == SHIFT {
                What::Shift(sign, Box::new(left), self.whole("a number of bits")?)
            } else {
                What::Binary(sign, Box::new([left, self.binary(level + 1)?]))
            };
            left = Expr { place, what };
            self.height = self.height.max(height) + 1;
            if self.height > MAX_HEIGHT {
                let cause = format!("an expression has more than {MAX_HEIGHT} levels");
                return Err(wrong(place, cause, "give parts of it names"));
            }
            if level == COMPARISON {
                return Ok(left);
            }
        }
    }

    fn unary(&mut self) -> Parsed<Expr> {
        self.height = 0;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(wrong(self.place(), "an expression is nested too deeply", "give parts of it names"));
        }
        let place = self.place();
        let what = if self.sign("-") {
            match self.peek() {
                Token::Number(digits) => {
                    let digits = digits.clone();
                    self.next();
                    What::Number(digits, true)
                }
                _ => What::Unary("-", Box::new(self.unary()?)),
            }
        } else if self.sign("!") {
            What::Unary("!", Box::new(self.unary()?))
        } else {
            self.primary()?
        };
        self.depth -= 1;
        Ok(Expr { place, what })
    }

    fn primary(&mut self) -> Parsed<What> {
        match self.peek().clone() {
            Token::Number(digits) => {
                self.next();
                Ok(What::Number(digits, false))
            }
            Token::Sign("(") => {
                self.next();
                let inner = self.expr()?;
                self.need(")")?;
                Ok(inner.what)
            }
            Token::Name(name) => {
                self.next();
                if matches!(self.peek(), Token::Sign("[")) {
                    let remedy =
                        format!("take elements by slice({name}, 0..1), or by gather({name}, places)");
                    return Err(wrong(self.place(), "`[` stands behind a value", remedy));
                }
                if !self.sign("(") {
                    return Ok(match name.as_str() {
                        "true" => What::Truth(true),
                        "false" => What::Truth(false),
                        _ => What::Name(name),
                    });
                }
                let (mut arguments, mut height) = (vec![], 0);
                while !self.sign(")") {
                    self.height = 0;
                    arguments.push(self.argument()?);
                    height = height.max(self.height + 1);
                    self.height = height;
                    if !self.sign(",") {
                        self.need(")")?;
                        break;
                    }
                }
                Ok(What::Call(name, arguments))
            }
            _ => self.expected("a value"),
        }
    }

    fn argument(&mut self) -> Parsed<Argument> {
        match (self.peek(), self.second()) {
            (Token::Sign("["), _) => Ok(Argument::List(self.list()?)),
            (Token::Number(_), Token::Sign("..")) => {
                let from = self.whole("a row's number")?;
                self.need("..")?;
                Ok(Argument::Range(from, self.whole("a row's number")?))
            }
            (Token::Name(_), Token::Sign("=")) => {
                let name = self.name("a name")?;
                self.need("=")?;
                if matches!(self.peek(), Token::Sign("[")) {
                    return Ok(Argument::NamedList(name, self.list()?));
                }
                Ok(Argument::Named(name, self.expr()?))
            }
            (Token::Name(word), _) if word == "desc" => {
                self.next();
                Ok(Argument::Value { desc: true, value: self.expr()? })
            }
            (Token::Name(word), next) if is_type(word, next) => {
                let (scalar, shape) = self.ty()?;
                Ok(Argument::Type(scalar, shape))
            }
            _ => Ok(Argument::Value { desc: false, value: self.expr()? }),
        }
    }

    fn item(&mut self) -> Parsed<Item> {
        let place = self.place();
        let minus = if self.sign("-") { "-" } else { "" };
        let text = match self.peek() {
            Token::Name(text) | Token::Number(text) => format!("{minus}{text}"),
            _ => return self.expected("a number"),
        };
        self.next();
        Ok(Item { place, text })
    }

    /// The content of brackets, line by line.
    fn file(&mut self) -> Parsed<String> {
        self.need("[")?;
        let (mut text, mut line) = (String::new(), self.place().line);
        while !self.sign("]") {
            let (Token::Name(word) | Token::Number(word)) = self.peek() else {
                return self.expected("a Bristol Fashion file, and `]`");
            };
            text += if self.place().line == line { " " } else { "\n" };
            text += word;
            line = self.place().line;
            self.next();
        }
        Ok(text)
    }

    fn list(&mut self) -> Parsed<Vec<Item>> {
        self.need("[")?;
        let mut items = vec![];
        while !self.sign("]") {
            items.push(self.item()?);
            if !self.sign(",") {
                self.need("]")?;
                break;
            }
        }
        Ok(items)
    }
}

/// Whether an argument is a type: names of scalars are reserved, whatever follows them.
fn is_type(word: &str, next: &Token) -> bool {
    match word {
        "fixed" | "bits" => *next == Token::Sign("("),
        _ => Scalar::parse(word).is_some(),
    }
}
