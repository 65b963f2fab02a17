//! dev
fn main() {
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path).unwrap();
        let t = std::time::Instant::now();
        let m = match hushwire_nn::onnx::Model::read(&bytes) {
            Ok(m) => m,
            Err(e) => {
                println!("NO {path}: {e}");
                continue;
            }
        };
        match hushwire_nn::Network::assumed(&m, &Default::default()) {
            Ok(a) => match hushwire_nn::Secure::new(
                &a.network,
                hushwire_nn::Numbers::default(),
                &Default::default(),
            ) {
                Ok(_) => println!("OK {path} {} layers {:?}", a.network.layers.len(), t.elapsed()),
                Err(e) => println!("NO {path}: secure {e}"),
            },
            Err(all) => {
                println!("NO {path}: {} faults {:?}", all.len(), t.elapsed());
                for f in all.iter().take(4) {
                    println!("    {}", f.to_string().chars().take(300).collect::<String>())
                }
            }
        }
    }
}
