//! Products, inner products, products of matrices and convolutions of numbers, against plain
//! arithmetic.

use hushwire_aes::Backend;
use hushwire_machine::{Cost, NetError, drive::Machine};
use hushwire_prg::Prg;
use hushwire_rep3::{
    Context, ShareError,
    ring::{
        Bilinear, Column, Conv2d, Dot, Factors, Geometry, MatMul, Product, Word, conv2d_known, matmul_known,
        test_support::{open_words, share_words},
    },
};
use hushwire_testkit::{backends, lockstep, prg, world};
use std::sync::Arc;

/// Words of all sizes, many of them at the ends of their range.
fn numbers<W: Word>(prg: &mut Prg, len: usize) -> Vec<W> {
    let edges = [0, 1, 2, u64::MAX, u64::MAX - 1, 1 << (W::BITS - 1), (1 << (W::BITS - 1)) - 1];
    let number = |_| match prg.next_u64() {
        n if n & 3 == 0 => W::of(edges[(n >> 8) as usize % edges.len()]),
        n => W::of(n >> 2 ^ n << 40),
    };
    (0..len).map(number).collect()
}

/// Runs the three parties on shares of x and y, and opens the result.
fn run<W: Word, F>(
    backend: Backend,
    (x, y): (&[W], &[W]),
    new: impl Fn(Context, Arc<Column<W>>, Arc<Column<W>>) -> Result<Bilinear<W, F>, ShareError>,
) -> Vec<W>
where
    Bilinear<W, F>: Machine<Error = NetError>,
{
    let mut dealer = prg(9, "dealer");
    let [xs, ys] = [x, y].map(|v| share_words(&mut dealer, v).map(Arc::new));
    let mut shares = xs.into_iter().zip(ys);
    let machines = world(3, backend).map(|mut party| {
        let (x, y) = shares.next().unwrap();
        new(party.next_batch().unwrap().context(), x, y).unwrap()
    });
    let costs = machines.each_ref().map(Machine::cost);
    let z = lockstep(machines).map(Bilinear::finish);
    let bytes = (z[0].rows() * W::BYTES) as u64;
    let expected = Cost { rounds: u64::from(bytes > 0), bytes_sent: bytes };
    assert_eq!(costs, [Some(expected); 3], "one word a result, one round");
    open_words(&z)
}

/// The same if all parties know one of the factors, for either factor.
fn with_known<W: Word>(
    (x, y): (&[W], &[W]),
    of: impl Fn(Factors<'_, W>) -> Result<Column<W>, ShareError>,
) -> [Vec<W>; 2] {
    let mut dealer = prg(9, "dealer");
    let [xs, ys] = [x, y].map(|v| share_words(&mut dealer, v));
    let left = ys.map(|y| of(Factors::LeftKnown(x, &y)).unwrap());
    let right = xs.map(|x| of(Factors::RightKnown(&x, y)).unwrap());
    [open_words(&left), open_words(&right)]
}

/// A row-major product of matrices, number by number.
fn plain<W: Word>([rows, depth, columns]: [usize; 3], x: &[W], y: &[W]) -> Vec<W> {
    let of = |i: usize, j: usize| {
        let products = (0..depth).map(|p| x[i * depth + p].times(y[p * columns + j]));
        products.fold(W::default(), Word::plus)
    };
    (0..rows * columns).map(|at| of(at / columns, at % columns)).collect()
}

macro_rules! of_all_words {
    ($test:ident($($argument:expr),*)) => {
        $test::<u8>($($argument),*);
        $test::<u16>($($argument),*);
        $test::<u32>($($argument),*);
        $test::<u64>($($argument),*);
    };
}

fn products<W: Word>(backend: Backend) {
    for rows in [0, 1, 2, 9, 63, 1000, 5001] {
        let mut prg = prg(rows as u64, "numbers");
        let (x, y) = (numbers::<W>(&mut prg, rows), numbers::<W>(&mut prg, rows));
        let expected: Vec<W> = x.iter().zip(&y).map(|(x, y)| x.times(*y)).collect();
        assert_eq!(run(backend, (&x, &y), Product::new), expected);
        // The memory of another result changes nothing, whatever its contents and length.
        let used = Column { own: vec![W::of(77); 99], next: vec![W::of(78); 99] };
        let again = |cx, x, y| Ok(Product::new(cx, x, y)?.with_buffer(used.clone()));
        assert_eq!(run(backend, (&x, &y), again), expected);
    }
}

fn dots<W: Word>(backend: Backend) {
    for [rows, length] in [[0, 5], [1, 0], [1, 1], [3, 0], [1, 1000], [7, 13], [100, 2], [33, 64]] {
        let mut prg = prg((rows + 1000 * length) as u64, "numbers");
        let (x, y) = (numbers::<W>(&mut prg, rows * length), numbers::<W>(&mut prg, rows * length));
        let row = |j: usize| plain([1, length, 1], &x[j * length..][..length], &y[j * length..][..length])[0];
        let expected: Vec<W> = (0..rows).map(row).collect();
        assert_eq!(run(backend, (&x, &y), |cx, x, y| Dot::new(cx, [rows, length], x, y)), expected);
    }
}

fn matrices<W: Word>(backend: Backend) {
    // Around the edges of panels (3 rows, 64 columns), blocks (66 rows, 512 columns) and depths
    // (32, 64 and 128).
    let shapes = [[0, 3, 4], [4, 0, 3], [3, 4, 0], [1, 1, 1], [2, 3, 5], [1, 600, 1], [5, 513, 7]];
    let wide =
        [[3, 32, 64], [4, 33, 65], [67, 64, 8], [1, 129, 130], [2, 5, 513], [65, 130, 63], [7, 257, 9]];
    for shape in shapes.into_iter().chain(wide) {
        let [rows, depth, columns] = shape;
        let mut prg = prg((rows + 1000 * depth + columns) as u64, "numbers");
        let (x, y) = (numbers::<W>(&mut prg, rows * depth), numbers::<W>(&mut prg, depth * columns));
        let z = run(backend, (&x, &y), |cx, x, y| MatMul::new(cx, shape, x, y));
        let expected = plain(shape, &x, &y);
        assert!(z == expected, "{shape:?} of {} bits", W::BITS);
        for z in with_known((&x, &y), |factors| matmul_known(backend, shape, factors)) {
            assert!(z == expected, "{shape:?} of {} bits, one factor known", W::BITS);
        }
    }
}

/// A convolution by its definition.
fn convolved<W: Word>(geometry: &Geometry, x: &[W], y: &[W]) -> Vec<W> {
    let Geometry {
        groups, pictures: [batch, height, width, channels], window, filters, stride, before, ..
    } = *geometry;
    let [down, across] = geometry.windows().unwrap();
    let mut z = vec![];
    if groups != 1 {
        let one = Geometry { groups: 1, ..*geometry };
        let sizes = [x, y].map(|words| words.len() / groups.max(1));
        let group =
            |g: usize| convolved(&one, &x[g * sizes[0]..][..sizes[0]], &y[g * sizes[1]..][..sizes[1]]);
        return (0..groups).flat_map(group).collect();
    }
    for (n, oy, ox, f) in (0..batch).flat_map(|n| {
        (0..down)
            .flat_map(move |oy| (0..across).flat_map(move |ox| (0..filters).map(move |f| (n, oy, ox, f))))
    }) {
        let mut sum = W::default();
        for (ky, kx, c) in (0..window[0])
            .flat_map(|ky| (0..window[1]).flat_map(move |kx| (0..channels).map(move |c| (ky, kx, c))))
        {
            let (iy, ix) = (oy * stride[0] + ky, ox * stride[1] + kx);
            if (before[0]..before[0] + height).contains(&iy) && (before[1]..before[1] + width).contains(&ix) {
                let pixel = ((n * height + iy - before[0]) * width + ix - before[1]) * channels + c;
                let weight = ((ky * window[1] + kx) * channels + c) * filters + f;
                sum = sum.plus(x[pixel].times(y[weight]));
            }
        }
        z.push(sum);
    }
    z
}

fn geometries() -> Vec<Geometry> {
    let plain = Geometry {
        groups: 1,
        pictures: [1, 5, 6, 1],
        window: [3, 3],
        filters: 2,
        stride: [1, 1],
        before: [0, 0],
        after: [0, 0],
    };
    vec![
        plain,
        Geometry { pictures: [2, 5, 4, 3], filters: 9, before: [1, 1], after: [1, 1], ..plain },
        Geometry { window: [1, 1], pictures: [1, 3, 3, 70], filters: 65, ..plain },
        Geometry { stride: [2, 3], before: [1, 0], after: [0, 2], ..plain },
        Geometry { window: [5, 6], filters: 16, ..plain },
        // Windows that cover only padding, and pictures that consist only of padding.
        Geometry { window: [2, 2], before: [4, 5], after: [3, 4], ..plain },
        Geometry { pictures: [1, 0, 0, 3], before: [2, 2], after: [2, 2], ..plain },
        Geometry { pictures: [0, 5, 5, 3], ..plain },
        Geometry { filters: 0, ..plain },
        Geometry { groups: 3, pictures: [2, 5, 4, 2], filters: 9, before: [1, 1], after: [1, 1], ..plain },
        Geometry { groups: 7, filters: 1, ..plain },
        Geometry { groups: 0, ..plain },
        Geometry { pictures: [1, 4, 4, 0], ..plain },
        Geometry {
            pictures: [1, 9, 9, 40],
            window: [5, 3],
            filters: 12,
            before: [2, 1],
            after: [2, 1],
            ..plain
        },
    ]
}

fn convolutions<W: Word>(backend: Backend) {
    for geometry in geometries() {
        let mut prg = prg(5, "numbers");
        let x = numbers::<W>(&mut prg, geometry.groups * geometry.pictures.iter().product::<usize>());
        let weights = geometry.window[0] * geometry.window[1] * geometry.pictures[3] * geometry.filters;
        let weights = geometry.groups * weights;
        let y = numbers::<W>(&mut prg, weights);
        let z = run(backend, (&x, &y), |cx, x, y| Conv2d::new(cx, geometry, x, y));
        assert_eq!(geometry.results(), Ok(z.len()));
        let expected = convolved(&geometry, &x, &y);
        assert!(z == expected, "{geometry:?} of {} bits", W::BITS);
        for z in with_known((&x, &y), |factors| conv2d_known(backend, geometry, factors)) {
            assert!(z == expected, "{geometry:?} of {} bits, one factor known", W::BITS);
        }
    }
}

#[test]
fn products_are_products_on_every_tier() {
    for backend in backends() {
        of_all_words!(products(backend));
        of_all_words!(dots(backend));
        of_all_words!(matrices(backend));
        of_all_words!(convolutions(backend));
    }
}

#[test]
fn shapes_that_are_none_are_refused() {
    let mut parties = world(1, Backend::best());
    let mut cx = || parties[0].next_batch().unwrap().context();
    let column = |rows| Arc::new(Column::<u32>::zeros(rows));
    let short = |what, expected, found| Some(ShareError::Length { what, expected, found });
    let (left, right) = ("the left factor's share", "the right factor's share");
    assert_eq!(Product::new(cx(), column(3), column(4)).err(), short(right, 12, 16));
    assert_eq!(Dot::new(cx(), [2, 3], column(5), column(6)).err(), short(left, 24, 20));
    assert_eq!(MatMul::new(cx(), [2, 3, 4], column(6), column(11)).err(), short(right, 48, 44));
    let uneven = Arc::new(Column::<u32> { own: vec![0; 6], next: vec![0; 5] });
    assert_eq!(MatMul::new(cx(), [2, 3, 4], uneven, column(12)).err(), short(left, 24, 20));
    let huge =
        |e: Option<ShareError>| e.unwrap().to_string().contains("more elements than there are addresses");
    assert!(huge(MatMul::new(cx(), [usize::MAX, 2, 1], column(0), column(0)).err()));
    assert!(huge(MatMul::new(cx(), [1 << 40, 0, 1 << 40], column(0), column(0)).err()));
    assert!(huge(Dot::new(cx(), [1 << 62, 1 << 62], column(0), column(0)).err()));
    let small = geometries()[0];
    let refused = |geometry: Geometry| geometry.windows().unwrap_err().to_string();
    assert!(refused(Geometry { stride: [0, 1], ..small }).contains("stride is 0"));
    assert!(refused(Geometry { window: [1, 0], ..small }).contains("window or stride is 0"));
    assert!(refused(Geometry { window: [6, 1], ..small }).contains("larger than the padded picture"));
    assert!(refused(Geometry { before: [usize::MAX, 1], ..small }).contains("larger than"));
    let empty = Geometry { window: [6, 1], ..small };
    assert!(matches!(Conv2d::new(cx(), empty, column(30), column(12)).err(), Some(ShareError::Shape { .. })));
    assert_eq!(Conv2d::new(cx(), small, column(30), column(17)).err(), short(right, 72, 68));
    let of = |factors: Factors<'_, u32>| matmul_known(Backend::best(), [2, 3, 4], factors).err();
    let known = "the known factor";
    assert_eq!(of(Factors::RightKnown(&column(6), &[0; 11])), short(known, 48, 44));
    assert_eq!(of(Factors::LeftKnown(&[0; 7], &column(12))), short(known, 24, 28));
    assert_eq!(of(Factors::LeftKnown(&[0; 6], &column(11))), short(right, 48, 44));
    let of = |factors: Factors<'_, u32>| conv2d_known(Backend::best(), small, factors).err();
    assert_eq!(of(Factors::RightKnown(&column(29), &[0; 18])), short(left, 120, 116));
    assert_eq!(of(Factors::RightKnown(&column(30), &[0; 17])), short(known, 72, 68));
}
