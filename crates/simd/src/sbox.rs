//! The AES S-box as a Boolean circuit: Boyar–Peralta's 32 ANDs in six layers, or 34 ANDs in four.
//!
//! Sources: J. Boyar, R. Peralta, "A new combinational logic minimization technique with
//! applications to cryptology", SEA 2010, Figs. 3 and 4, with the names used there. The flatter
//! inversion in GF(2^4) is from J. Boyar, R. Peralta, "A depth-16 circuit for the AES S-box", 2011
//! (M25…M40), between the same linear layers. The circuit is generic over [`Gates`]: words evaluate
//! it, and a recorder turns it into a circuit.

/// Boolean gates over words of some kind.
pub trait Gates {
    /// A word: one wire of many instances.
    type W: Copy;
    /// XOR.
    fn xor(&mut self, a: Self::W, b: Self::W) -> Self::W;
    /// AND.
    fn and(&mut self, a: Self::W, b: Self::W) -> Self::W;
    /// The complement of `a`.
    fn not(&mut self, a: Self::W) -> Self::W;
}

/// The S-box with 32 ANDs, AND-depth 6, on bit planes; index `b` is bit `b` of the byte (0 = least
/// significant), in and out.
#[inline(always)]
pub fn forward<G: Gates>(g: &mut G, u: [G::W; 8]) -> [G::W; 8] {
    around(g, u, inverse_five)
}

/// The S-box with 34 ANDs, AND-depth 4; planes are as in [`forward`].
#[inline(always)]
pub fn forward_depth4<G: Gates>(g: &mut G, u: [G::W; 8]) -> [G::W; 8] {
    around(g, u, inverse_seven)
}

/// Inversion in GF(2^4) with five consecutive ANDs: t21…t24 to t29, t33, t37, t40.
#[inline(always)]
fn inverse_five<G: Gates>(g: &mut G, [t21, t22, t23, t24]: [G::W; 4]) -> [G::W; 4] {
    let t25 = g.xor(t21, t22);
    let t26 = g.and(t21, t23);
    let t27 = g.xor(t24, t26);
    let t28 = g.and(t25, t27);
    let t29 = g.xor(t28, t22);
    let t30 = g.xor(t23, t24);
    let t31 = g.xor(t22, t26);
    let t32 = g.and(t31, t30);
    let t33 = g.xor(t32, t24);
    let t34 = g.xor(t23, t33);
    let t35 = g.xor(t27, t33);
    let t36 = g.and(t24, t35);
    let t37 = g.xor(t36, t34);
    let t38 = g.xor(t27, t36);
    let t39 = g.and(t29, t38);
    let t40 = g.xor(t25, t39);
    [t29, t33, t37, t40]
}

/// Inversion in GF(2^4) with seven ANDs in two layers.
#[inline(always)]
fn inverse_seven<G: Gates>(g: &mut G, [t21, t22, t23, t24]: [G::W; 4]) -> [G::W; 4] {
    let t25 = g.xor(t21, t22);
    let t30 = g.xor(t23, t24);
    let m25 = g.and(t21, t23);
    let m31 = g.and(t21, t24);
    let m34 = g.and(t22, t23);
    let m26 = g.xor(t22, m25);
    let m28 = g.xor(t24, m25);
    let m29 = g.and(m28, t25);
    let m30 = g.and(m26, t30);
    let m32 = g.and(t25, m31);
    let m35 = g.and(t30, m34);
    let m33 = g.xor(t25, m25);
    let m36 = g.xor(t30, m25);
    [g.xor(t22, m29), g.xor(t24, m30), g.xor(m35, m36), g.xor(m32, m33)]
}

/// The linear layers and the ANDs before and after an inversion in GF(2^4).
#[inline(always)]
#[allow(clippy::many_single_char_names)]
fn around<G: Gates>(
    g: &mut G,
    u: [G::W; 8],
    inverse: impl FnOnce(&mut G, [G::W; 4]) -> [G::W; 4],
) -> [G::W; 8] {
    let [x7, x6, x5, x4, x3, x2, x1, x0] = u;
    // Top linear layer.
    let y14 = g.xor(x3, x5);
    let y13 = g.xor(x0, x6);
    let y9 = g.xor(x0, x3);
    let y8 = g.xor(x0, x5);
    let t0 = g.xor(x1, x2);
    let y1 = g.xor(t0, x7);
    let y4 = g.xor(y1, x3);
    let y12 = g.xor(y13, y14);
    let y2 = g.xor(y1, x0);
    let y5 = g.xor(y1, x6);
    let y3 = g.xor(y5, y8);
    let t1 = g.xor(x4, y12);
    let y15 = g.xor(t1, x5);
    let y20 = g.xor(t1, x1);
    let y6 = g.xor(y15, x7);
    let y10 = g.xor(y15, t0);
    let y11 = g.xor(y20, y9);
    let y7 = g.xor(x7, y11);
    let y17 = g.xor(y10, y11);
    let y19 = g.xor(y10, y8);
    let y16 = g.xor(t0, y11);
    let y21 = g.xor(y13, y16);
    let y18 = g.xor(x0, y16);
    // Middle, nonlinear layer.
    let t2 = g.and(y12, y15);
    let t3 = g.and(y3, y6);
    let t4 = g.xor(t3, t2);
    let t5 = g.and(y4, x7);
    let t6 = g.xor(t5, t2);
    let t7 = g.and(y13, y16);
    let t8 = g.and(y5, y1);
    let t9 = g.xor(t8, t7);
    let t10 = g.and(y2, y7);
    let t11 = g.xor(t10, t7);
    let t12 = g.and(y9, y11);
    let t13 = g.and(y14, y17);
    let t14 = g.xor(t13, t12);
    let t15 = g.and(y8, y10);
    let t16 = g.xor(t15, t12);
    let t17 = g.xor(t4, t14);
    let t18 = g.xor(t6, t16);
    let t19 = g.xor(t9, t14);
    let t20 = g.xor(t11, t16);
    let t21 = g.xor(t17, y20);
    let t22 = g.xor(t18, y19);
    let t23 = g.xor(t19, y21);
    let t24 = g.xor(t20, y18);
    let [t29, t33, t37, t40] = inverse(g, [t21, t22, t23, t24]);
    let t41 = g.xor(t40, t37);
    let t42 = g.xor(t29, t33);
    let t43 = g.xor(t29, t40);
    let t44 = g.xor(t33, t37);
    let t45 = g.xor(t42, t41);
    let z0 = g.and(t44, y15);
    let z1 = g.and(t37, y6);
    let z2 = g.and(t33, x7);
    let z3 = g.and(t43, y16);
    let z4 = g.and(t40, y1);
    let z5 = g.and(t29, y7);
    let z6 = g.and(t42, y11);
    let z7 = g.and(t45, y17);
    let z8 = g.and(t41, y10);
    let z9 = g.and(t44, y12);
    let z10 = g.and(t37, y3);
    let z11 = g.and(t33, y4);
    let z12 = g.and(t43, y13);
    let z13 = g.and(t40, y5);
    let z14 = g.and(t29, y2);
    let z15 = g.and(t42, y9);
    let z16 = g.and(t45, y14);
    let z17 = g.and(t41, y8);
    // Bottom linear layer.
    let t46 = g.xor(z15, z16);
    let t47 = g.xor(z10, z11);
    let t48 = g.xor(z5, z13);
    let t49 = g.xor(z9, z10);
    let t50 = g.xor(z2, z12);
    let t51 = g.xor(z2, z5);
    let t52 = g.xor(z7, z8);
    let t53 = g.xor(z0, z3);
    let t54 = g.xor(z6, z7);
    let t55 = g.xor(z16, z17);
    let t56 = g.xor(z12, t48);
    let t57 = g.xor(t50, t53);
    let t58 = g.xor(z4, t46);
    let t59 = g.xor(z3, t54);
    let t60 = g.xor(t46, t57);
    let t61 = g.xor(z14, t57);
    let t62 = g.xor(t52, t58);
    let t63 = g.xor(t49, t58);
    let t64 = g.xor(z4, t59);
    let t65 = g.xor(t61, t62);
    let t66 = g.xor(z1, t63);
    let s0 = g.xor(t59, t63);
    let n62 = g.not(t62);
    let s6 = g.xor(t56, n62);
    let n60 = g.not(t60);
    let s7 = g.xor(t48, n60);
    let t67 = g.xor(t64, t65);
    let s3 = g.xor(t53, t66);
    let s4 = g.xor(t51, t66);
    let s5 = g.xor(t47, t65);
    let n3 = g.not(s3);
    let s1 = g.xor(t64, n3);
    let n67 = g.not(t67);
    let s2 = g.xor(t55, n67);
    [s7, s6, s5, s4, s3, s2, s1, s0]
}
