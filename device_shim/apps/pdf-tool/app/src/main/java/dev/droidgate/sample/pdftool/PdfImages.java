package dev.droidgate.sample.pdftool;

import android.graphics.Bitmap;
import android.graphics.BitmapFactory;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/** Saves the JPEG pictures of a file, and those that hold plain 8-bit grey or colour values. */
final class PdfImages {
    private static final int MAX_PIXELS = 16_000_000;

    private final PdfFile file;
    private final boolean allAsPng;
    private final JSONArray saved = new JSONArray();
    private final JSONArray skipped = new JSONArray();

    PdfImages(PdfFile file, boolean allAsPng) {
        this.file = file;
        this.allAsPng = allAsPng;
    }

    JSONObject save(File folder, String base, int limit) throws ToolException, JSONException {
        Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<Object, Boolean>());
        for (int page = 1; page <= file.pages().size(); page++) {
            Map<String, Object> resources = file.dictionary(file.pages().get(page - 1).get("Resources"));
            for (Object reference : file.dictionary(resources.get("XObject")).values()) {
                Object found = file.resolve(reference);
                if (saved.length() < limit && found instanceof PdfStream && seen.add(found)) {
                    saveOne((PdfStream) found, page, new File(folder, base + "-" + (saved.length() + 1)));
                }
            }
        }
        return new JSONObject().put("images", saved).put("skipped", skipped);
    }

    private void saveOne(PdfStream image, int page, File target) throws JSONException {
        try {
            if (!"Image".equals(file.resolve(image.dictionary.get("Subtype")))) {
                return;
            }
            int width = size(image, "Width");
            int height = size(image, "Height");
            if ((long) width * height > MAX_PIXELS) {
                throw new ToolException("more than " + MAX_PIXELS + " pixels");
            }
            List<Object> filters = PdfFilters.namesOf(file, image);
            int beforeLast = filters.size() - 1;
            boolean jpeg = beforeLast >= 0 && "DCTDecode".equals(filters.get(beforeLast));
            boolean asStored = jpeg && !allAsPng;
            byte[] data = PdfFilters.decode(file, image, jpeg ? filters.subList(0, beforeLast) : filters);
            if (!asStored) {
                data = png(jpeg ? decodedJpeg(data) : pixels(image, data, width, height));
            }
            File named = new File(target.getPath() + (asStored ? ".jpg" : ".png"));
            PdfTools.write(named, data);
            saved.put(new JSONObject()
                    .put("path", named.getPath())
                    .put("page", page)
                    .put("width", width)
                    .put("height", height));
        } catch (ToolException e) {
            skipped.put(new JSONObject().put("page", page).put("reason", e.getMessage()));
        }
    }

    private int size(PdfStream image, String side) throws ToolException {
        Object value = file.resolve(image.dictionary.get(side));
        if (!(value instanceof Long) || (Long) value < 1 || (Long) value > MAX_PIXELS) {
            throw new ToolException("its size is not stated");
        }
        return ((Long) value).intValue();
    }

    private static Bitmap decodedJpeg(byte[] data) throws ToolException {
        Bitmap bitmap = BitmapFactory.decodeByteArray(data, 0, data.length);
        if (bitmap == null) {
            throw new ToolException("its JPEG data is damaged");
        }
        return bitmap;
    }

    private Bitmap pixels(PdfStream image, byte[] data, int width, int height) throws ToolException {
        Object space = file.resolve(image.dictionary.get("ColorSpace"));
        Object bits = file.resolve(image.dictionary.get("BitsPerComponent"));
        boolean grey = "DeviceGray".equals(space);
        if (!(grey || "DeviceRGB".equals(space)) || !Long.valueOf(8).equals(bits)) {
            throw new ToolException("its colours are stored in a way this tool does not know");
        }
        int perPixel = grey ? 1 : 3;
        if (data.length < width * height * perPixel) {
            throw new ToolException("its data is too short");
        }
        int[] colours = new int[width * height];
        for (int i = 0; i < colours.length; i++) {
            int red = data[i * perPixel] & 0xff;
            int green = grey ? red : data[i * 3 + 1] & 0xff;
            int blue = grey ? red : data[i * 3 + 2] & 0xff;
            colours[i] = 0xff000000 | red << 16 | green << 8 | blue;
        }
        return Bitmap.createBitmap(colours, width, height, Bitmap.Config.ARGB_8888);
    }

    private static byte[] png(Bitmap bitmap) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        bitmap.compress(Bitmap.CompressFormat.PNG, 100, out);
        bitmap.recycle();
        return out.toByteArray();
    }
}
