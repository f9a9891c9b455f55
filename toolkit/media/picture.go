package media

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // decoders
	"image/jpeg"
	"image/png"

	_ "golang.org/x/image/bmp" // decoders
	"golang.org/x/image/draw"
	_ "golang.org/x/image/tiff"
	_ "golang.org/x/image/webp"

	"chela/toolkit"
)

// The bounds of a picture.
const (
	maxPicture = 20 << 20 // bytes of the file
	maxPixels  = 64 << 20
	maxSide    = 1568 // pixels of the longer side that a model is given; larger ones are scaled by its server anyway
)

// describe reads the form and size of a picture without decoding it.
func describe(path string, data []byte) (image.Config, string, error) {
	c, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		e := toolkit.Errorf(CodeFormat, "%s is no picture of a known form (png, jpeg, gif, webp, bmp, tiff).", path)
		if bytes.Contains(data[:min(len(data), 1024)], []byte("<svg")) {
			e = toolkit.Errorf(CodeFormat, "%s is an SVG, which is text.", path).WithHint("Read it with read_file.")
		}
		return c, "", e
	}
	if c.Width <= 0 || c.Height <= 0 || c.Width > maxPixels/c.Height {
		return c, "", toolkit.Errorf(CodeTooLarge, "%s has %d x %d pixels; at most %d million are read.", path, c.Width, c.Height, maxPixels>>20)
	}
	return c, "image/" + format, nil
}

// decode decodes a picture that describe let through. The decoders read what
// anybody may have written.
func decode(data []byte) (img image.Image, err error) {
	defer func() {
		if v := recover(); v != nil {
			img, err = nil, fmt.Errorf("the picture is damaged: %v", v)
		}
	}()
	img, _, err = image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("the picture is damaged: %w", err)
	}
	return img, nil
}

// forModel makes a picture one that model servers take: PNG or JPEG, and not
// larger than they use. What is that already stays as it is.
func forModel(data []byte, c image.Config, mime string) ([]byte, error) {
	if (mime == "image/png" || mime == "image/jpeg") && max(c.Width, c.Height) <= maxSide {
		return data, nil
	}
	img, err := decode(data)
	if err != nil {
		return nil, err
	}
	w, h := c.Width, c.Height
	if long := max(w, h); long > maxSide {
		w, h = max(w*maxSide/long, 1), max(h*maxSide/long, 1)
	}
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(out, out.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.BiLinear.Scale(out, out.Bounds(), img, img.Bounds(), draw.Over, nil)
	var b bytes.Buffer
	if err := jpeg.Encode(&b, out, &jpeg.Options{Quality: 90}); err != nil {
		return nil, fmt.Errorf("scaling the picture: %w", err)
	}
	return b.Bytes(), nil
}

// asPNG makes a picture a PNG, if it is none.
func asPNG(name string, data []byte) ([]byte, image.Config, error) {
	c, mime, err := describe(name, data)
	if err != nil || mime == "image/png" {
		return data, c, err
	}
	img, err := decode(data)
	if err != nil {
		return nil, c, err
	}
	var b bytes.Buffer
	err = png.Encode(&b, img)
	return b.Bytes(), c, err
}
