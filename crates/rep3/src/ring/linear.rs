//! Linear steps, which parties compute locally: sums of shares are shares of sums, and likewise for
//! every linear map. They take no message.

use super::{column::Column, word::Word};
use crate::{Rep3, Role, ShareError, pool};

/// Applies the same map to both shares.
fn each<W: Word>(x: &Column<W>, map: impl Fn(&[W]) -> Vec<W>) -> Column<W> {
    Rep3 { own: map(&x.own), next: map(&x.next) }
}

/// Applies the same map to both shares of two columns, row by row.
fn both<W: Word>(x: &Column<W>, y: &Column<W>, map: impl Fn(W, W) -> W) -> Result<Column<W>, ShareError> {
    let rows = x.rows();
    x.expect_rows("a column's share", rows)?;
    y.expect_rows("the other column's share", rows)?;
    let of = |x: &[W], y: &[W]| pool::collect(x.iter().zip(y).map(|(x, y)| map(*x, *y)));
    Ok(Rep3 { own: of(&x.own, &y.own), next: of(&x.next, &y.next) })
}

/// Refuses known numbers whose count is not the number of rows.
fn as_many<W: Word>(x: &Column<W>, known: &[W]) -> Result<(), ShareError> {
    x.expect_rows("a column's share", known.len())
}

/// x + y.
///
/// # Errors
/// [`ShareError::Length`] unless all shares have the same number of rows.
pub fn plus<W: Word>(x: &Column<W>, y: &Column<W>) -> Result<Column<W>, ShareError> {
    both(x, y, W::plus)
}

/// x − y.
///
/// # Errors
/// [`ShareError::Length`] unless all shares have the same number of rows.
pub fn minus<W: Word>(x: &Column<W>, y: &Column<W>) -> Result<Column<W>, ShareError> {
    both(x, y, W::minus)
}

/// −x.
#[must_use]
pub fn negative<W: Word>(x: &Column<W>) -> Column<W> {
    each(x, |share| pool::collect(share.iter().map(|word| W::default().minus(*word))))
}

/// Every row times one number that all parties know.
#[must_use]
pub fn scaled<W: Word>(x: &Column<W>, factor: W) -> Column<W> {
    each(x, |share| pool::collect(share.iter().map(|word| word.times(factor))))
}

/// Each row times its own number that all parties know.
///
/// # Errors
/// [`ShareError::Length`] unless there is a number for each row.
pub fn times_known<W: Word>(x: &Column<W>, known: &[W]) -> Result<Column<W>, ShareError> {
    as_many(x, known)?;
    Ok(each(x, |share| pool::collect(share.iter().zip(known).map(|(word, known)| word.times(*known)))))
}

/// Each row plus a number that all parties know. It is added to x_0 alone; otherwise it would count
/// three times.
///
/// # Errors
/// [`ShareError::Length`] unless there is a number for each row.
pub fn plus_known<W: Word>(role: Role, x: &Column<W>, known: &[W]) -> Result<Column<W>, ShareError> {
    as_many(x, known)?;
    let mut sum = x.clone();
    let Rep3 { own, next } = &mut sum;
    let share = match role.constant_slot() {
        Some(0) => own,
        Some(_) => next,
        None => return Ok(sum),
    };
    share.iter_mut().zip(known).for_each(|(word, known)| *word = word.plus(*known));
    Ok(sum)
}

/// The sum of all rows, as one row; 0 if there are none.
#[must_use]
pub fn sum<W: Word>(x: &Column<W>) -> Column<W> {
    each(x, |share| vec![total(share)])
}

fn total<W: Word>(words: &[W]) -> W {
    words.iter().fold(W::default(), |sum, word| sum.plus(*word))
}

/// Sums of `width` consecutive rows: the row sums of a row-major matrix.
///
/// # Errors
/// [`ShareError::Length`] if the rows are not a multiple of `width`, [`ShareError::Shape`] for a
/// width of 0.
pub fn sums<W: Word>(x: &Column<W>, width: usize) -> Result<Column<W>, ShareError> {
    let (cause, remedy) = ("sums of no rows each have no number", "take a width of 1 at least");
    let runs = x.rows().checked_div(width).ok_or(ShareError::Shape { cause, remedy })?;
    x.expect_rows("a share of whole rows", runs * width)?;
    Ok(each(x, |share| pool::collect(share.chunks_exact(width).map(total))))
}

/// Row `i` of the result is the sum of rows 0 to `i`.
#[must_use]
pub fn prefix_sums<W: Word>(x: &Column<W>) -> Column<W> {
    let running = |share: &[W]| {
        let sums = share.iter().scan(W::default(), |sum, word| {
            *sum = sum.plus(*word);
            Some(*sum)
        });
        sums.collect()
    };
    each(x, running)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ring::test_support::{open_words, share_words};
    use hushwire_testkit::prg;
    use proptest::prelude::*;

    /// Compares all functions with the same ones on plain numbers.
    fn all_of<W: Word>(x: &[u64], y: &[u64], factor: u64, width: usize) {
        let [x, y] = [x, y].map(|v| v.iter().map(|n| W::of(*n)).collect::<Vec<W>>());
        let mut dealer = prg(1, "dealer");
        let [xs, ys] = [&x, &y].map(|v| share_words(&mut dealer, v));
        let open = |of: &dyn Fn(usize) -> Column<W>| open_words(&[0, 1, 2].map(of));
        let zip = |of: fn(W, W) -> W| x.iter().zip(&y).map(|(x, y)| of(*x, *y)).collect::<Vec<W>>();
        assert_eq!(open(&|i| plus(&xs[i], &ys[i]).unwrap()), zip(W::plus));
        assert_eq!(open(&|i| minus(&xs[i], &ys[i]).unwrap()), zip(W::minus));
        assert_eq!(open(&|i| times_known(&xs[i], &y).unwrap()), zip(W::times));
        assert_eq!(open(&|i| plus_known(Role::ALL[i], &xs[i], &y).unwrap()), zip(W::plus));
        let map = |of: &dyn Fn(W) -> W| x.iter().map(|x| of(*x)).collect::<Vec<W>>();
        assert_eq!(open(&|i| negative(&xs[i])), map(&|x| W::of(0).minus(x)));
        assert_eq!(open(&|i| scaled(&xs[i], W::of(factor))), map(&|x| W::of(factor).times(x)));
        assert_eq!(open(&|i| sum(&xs[i])), [total(&x)]);
        let prefixes: Vec<W> = (0..x.len()).map(|i| total(&x[..=i])).collect();
        assert_eq!(open(&|i| prefix_sums(&xs[i])), prefixes);
        if x.len().is_multiple_of(width) {
            let expected: Vec<W> = x.chunks(width).map(total).collect();
            assert_eq!(open(&|i| sums(&xs[i], width).unwrap()), expected);
        } else {
            assert!(matches!(sums(&xs[0], width).err(), Some(ShareError::Length { .. })));
        }
    }

    proptest! {
        #[test]
        fn linear_maps_are_those_of_the_numbers(
            rows in proptest::collection::vec(any::<(u64, u64)>(), 0..70), factor: u64, width in 1usize..9,
        ) {
            let (x, y): (Vec<u64>, Vec<u64>) = rows.into_iter().unzip();
            all_of::<u8>(&x, &y, factor, width);
            all_of::<u16>(&x, &y, factor, width);
            all_of::<u32>(&x, &y, factor, width);
            all_of::<u64>(&x, &y, factor, width);
        }
    }

    #[test]
    fn columns_that_do_not_fit_are_refused() {
        let (short, long) = (Column::<u16>::zeros(2), Column::<u16>::zeros(3));
        let uneven = Column::<u16> { own: vec![0; 3], next: vec![0; 2] };
        let expected = |what| Some(ShareError::Length { what, expected: 4, found: 6 });
        assert_eq!(plus(&short, &long).err(), expected("the other column's share"));
        assert_eq!(times_known(&long, &[1, 2]).err(), expected("a column's share"));
        assert_eq!(plus_known(Role::ALL[1], &long, &[1, 2]).err(), expected("a column's share"));
        assert!(minus(&uneven, &long).is_err() && sums(&uneven, 1).is_err());
        assert!(sums(&long, 0).err().unwrap().to_string().contains("width of 1"));
    }
}
