package dev.droidgate.proof;

import static org.junit.Assert.assertEquals;

import android.graphics.Bitmap;
import android.graphics.Canvas;
import android.view.View;
import java.awt.image.BufferedImage;
import java.awt.image.IndexColorModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import javax.imageio.ImageIO;
import org.robolectric.RuntimeEnvironment;

/** Views as Android draws them, and the pictures of them in the documentation. */
final class Pictures {
    /** What another processor may round otherwise, and what the fewer colours of a picture lose. */
    private static final int MOST_DIFFERENCE = 24;

    private static final int MOST_COLOURS = 256;

    private Pictures() {}

    static Bitmap draw(View view) {
        Bitmap bitmap = Bitmap.createBitmap(view.getWidth(), view.getHeight(), Bitmap.Config.ARGB_8888);
        view.draw(new Canvas(bitmap));
        return bitmap;
    }

    /** Compares a view with the picture of this release in the documentation, or makes it anew. */
    static void check(String name, Object view) throws IOException {
        int api = RuntimeEnvironment.getApiLevel();
        Path file = Path.of(Inputs.fact("pictures"), name + "-" + api + ".png");
        Bitmap drawn = draw((View) view);
        int[] pixels = new int[drawn.getWidth() * drawn.getHeight()];
        drawn.getPixels(pixels, 0, drawn.getWidth(), 0, 0, drawn.getWidth(), drawn.getHeight());
        if (Boolean.parseBoolean(Inputs.fact("refresh"))) {
            Files.createDirectories(file.getParent());
            ImageIO.write(indexed(pixels, drawn.getWidth(), drawn.getHeight()), "png", file.toFile());
        }
        BufferedImage kept = ImageIO.read(file.toFile());
        String size = drawn.getWidth() + " x " + drawn.getHeight();
        assertEquals(file.toString(), size, kept.getWidth() + " x " + kept.getHeight());
        for (int index = 0; index < pixels.length; index++) {
            int x = index % drawn.getWidth();
            int y = index / drawn.getWidth();
            String place = file + " is not what is drawn now, at " + x + ", " + y;
            assertEquals(place, 0, difference(pixels[index], kept.getRGB(x, y)) / MOST_DIFFERENCE);
        }
    }

    private static int difference(int colour, int other) {
        int most = 0;
        for (int shift = 0; shift < 24; shift += 8) {
            most = Math.max(most, Math.abs((colour >> shift & 0xff) - (other >> shift & 0xff)));
        }
        return most;
    }

    /** Returns a picture with a palette, a quarter as large, of five bits of each part of a colour. */
    private static BufferedImage indexed(int[] pixels, int width, int height) {
        int[] palette =
                Arrays.stream(pixels).map(Pictures::rounded).distinct().sorted().toArray();
        assertEquals("colours", Math.min(palette.length, MOST_COLOURS), palette.length);
        IndexColorModel colours = new IndexColorModel(8, palette.length, palette, 0, false, -1, 0);
        BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_BYTE_INDEXED, colours);
        for (int index = 0; index < pixels.length; index++) {
            image.setRGB(index % width, index / width, rounded(pixels[index]));
        }
        return image;
    }

    private static int rounded(int colour) {
        return 0xff000000 | colour & 0xf8f8f8 | colour >> 5 & 0x070707;
    }
}
