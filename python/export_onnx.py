#!/usr/bin/env python3
"""Exports a torchvision model with trained weights as an ONNX file that `hushwire model` reads.

    python3 python/export_onnx.py squeezenet1_1 m.onnx
    python3 python/export_onnx.py resnet50 m.onnx --classes classes.txt

Needs torch, torchvision and onnx. The number of images stays open; weights stay in the file. Images are prepared as the weights' own
transforms say: `--image cat.jpg --input x.npy` writes one so prepared.
"""

import argparse
import sys


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", help="a model of torchvision, such as squeezenet1_1, resnet50 or densenet121")
    parser.add_argument("out", help="the ONNX file")
    parser.add_argument("--side", type=int, default=224, help="rows and columns of images")
    parser.add_argument("--classes", help="a file for the names of classes")
    parser.add_argument("--image", help="a picture to prepare")
    parser.add_argument("--input", help="the NumPy file of the prepared picture")
    args = parser.parse_args()
    try:
        import numpy
        import torch
        import torchvision
    except ImportError as e:
        print(f"{e.name} is missing: pip install torch torchvision onnx", file=sys.stderr)
        return 1
    weights = torchvision.models.get_model_weights(args.name).DEFAULT
    model = torchvision.models.get_model(args.name, weights=weights).eval()
    sample = torch.zeros(1, 3, args.side, args.side)
    torch.onnx.export(
        model,
        sample,
        args.out,
        opset_version=17,
        input_names=["input"],
        output_names=["output"],
        dynamic_axes={"input": {0: "images"}, "output": {0: "images"}},
        dynamo=False,
    )
    if args.classes:
        with open(args.classes, "w", encoding="utf-8") as file:
            file.writelines(f"{name}\n" for name in weights.meta["categories"])
    if args.image and args.input:
        picture = torchvision.io.read_image(args.image, torchvision.io.ImageReadMode.RGB)
        prepared = weights.transforms()(picture).unsqueeze(0)
        numpy.save(args.input, prepared.numpy().astype("float32"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
