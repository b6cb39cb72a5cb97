package dev.droidgate.sample.pdftool;

import android.content.Context;
import android.graphics.Bitmap;
import android.graphics.Color;
import android.graphics.Rect;
import android.graphics.pdf.PdfDocument;
import android.graphics.pdf.PdfRenderer;
import android.graphics.pdf.content.PdfPageTextContent;
import android.os.Build;
import android.os.Environment;
import android.os.ParcelFileDescriptor;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/**
 * What the tools do, once their parameters are known to fit their schemas. Android reads and writes the PDF
 * files.
 */
final class PdfTools {
    private static final int MAX_FILE = 16 * 1024 * 1024;
    private static final int MAX_TEXT = 100_000;
    private static final int MAX_PICTURES = 20;
    private static final int MAX_PIXELS = 16_000_000;
    private static final int SNIPPET = 40;
    private static final int MAX_MERGED_PIXELS = 4_000_000;
    /**
     * Pixels per point in merged files: 144 dpi, and less where a page would have more than
     * MAX_MERGED_PIXELS.
     */
    private static final double SHARPNESS = 2;

    private final Context context;

    PdfTools(Context context) {
        this.context = context;
    }

    JSONObject run(String tool, JSONObject args) throws ToolException, JSONException {
        switch (tool) {
            case "page_count":
                return pageCount(args);
            case "extract_text":
                return extractText(args);
            case "search_text":
                return searchText(args);
            case "render_pages":
                return renderPages(args);
            case "merge":
                return merge(args);
            default:
                throw new IllegalStateException("declared but not written: " + tool);
        }
    }

    private JSONObject pageCount(JSONObject args) throws ToolException, JSONException {
        try (PdfRenderer file = open(args.getString("path"))) {
            return new JSONObject().put("page_count", file.getPageCount());
        }
    }

    private JSONObject extractText(JSONObject args) throws ToolException, JSONException {
        try (PdfRenderer file = open(args.getString("path"))) {
            int first = args.optInt("first_page", 1);
            int last = args.optInt("last_page", file.getPageCount());
            checkRange(first, last, file.getPageCount());
            StringBuilder text = new StringBuilder();
            for (int page = first; page <= last && text.length() <= MAX_TEXT; page++) {
                text.append(separator(args.optString("separator", "blank_line"), page, page == first));
                text.append(textOf(file, page));
            }
            boolean truncated = text.length() > MAX_TEXT;
            if (truncated) {
                text.setLength(MAX_TEXT);
            }
            return new JSONObject()
                    .put("text", text.toString())
                    .put("first_page", first)
                    .put("last_page", last)
                    .put("truncated", truncated);
        }
    }

    private static String separator(String kind, int page, boolean isFirst) {
        if (kind.equals("page_heading")) {
            return (isFirst ? "" : "\n\n") + "--- page " + page + " ---\n";
        }
        if (isFirst) {
            return "";
        }
        return kind.equals("form_feed") ? "\f" : "\n\n";
    }

    private JSONObject searchText(JSONObject args) throws ToolException, JSONException {
        int limit = args.optInt("max_results", 20);
        int flags = args.optBoolean("match_case", false)
                ? 0
                : Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE;
        Pattern query = Pattern.compile(args.getString("query"), Pattern.LITERAL | flags);
        JSONArray found = new JSONArray();
        try (PdfRenderer file = open(args.getString("path"))) {
            for (int page = 1; page <= file.getPageCount() && found.length() < limit; page++) {
                String text = textOf(file, page).replaceAll("\\s+", " ");
                Matcher matcher = query.matcher(text);
                while (found.length() < limit && matcher.find()) {
                    int from = Math.max(0, matcher.start() - SNIPPET);
                    int to = Math.min(text.length(), matcher.end() + SNIPPET);
                    found.put(new JSONObject().put("page", page).put("snippet", text.substring(from, to)));
                }
            }
        }
        return new JSONObject().put("results", found);
    }

    private JSONObject renderPages(JSONObject args) throws ToolException, JSONException {
        String path = args.getString("path");
        boolean isPng = args.getString("format").equals("png");
        String base = new File(path).getName().replaceAll("(?i)\\.pdf$", "")
                .replaceAll("[^A-Za-z0-9_-]", "_");
        JSONArray saved = new JSONArray();
        try (PdfRenderer file = open(path)) {
            int first = args.optInt("first_page", 1);
            int last = args.optInt("last_page", file.getPageCount());
            checkRange(first, last, file.getPageCount());
            checkCount(last - first + 1);
            for (int number = first; number <= last; number++) {
                try (PdfRenderer.Page page = file.openPage(number - 1)) {
                    int width = args.optInt("width", 1080);
                    long height = Math.max(1, (long) width * page.getHeight() / page.getWidth());
                    if (width * height > MAX_PIXELS) {
                        throw new ToolException(
                                "page " + number + " would have more than " + MAX_PIXELS + " pixels");
                    }
                    Bitmap picture = picture(page, width, (int) height);
                    File target = new File(folder("images"), base + "-" + number + (isPng ? ".png" : ".jpg"));
                    write(target, out -> picture.compress(
                            isPng ? Bitmap.CompressFormat.PNG : Bitmap.CompressFormat.JPEG, 90, out));
                    picture.recycle();
                    saved.put(new JSONObject()
                            .put("path", target.getPath())
                            .put("page", number)
                            .put("width", width)
                            .put("height", height));
                }
            }
        }
        return new JSONObject().put("images", saved);
    }

    /**
     * Draws each page again: PdfDocument writes what is drawn on a canvas, so the text of the pages becomes a
     * picture.
     */
    private JSONObject merge(JSONObject args) throws ToolException, JSONException {
        JSONArray paths = args.getJSONArray("paths");
        JSONObject size = args.optJSONObject("page_size");
        File target = new File(folder("merged"), args.getString("output_name") + ".pdf");
        PdfDocument merged = new PdfDocument();
        try {
            int pages = 0;
            for (int i = 0; i < paths.length(); i++) {
                try (PdfRenderer file = open(paths.getString(i))) {
                    checkCount(pages + file.getPageCount());
                    for (int page = 0; page < file.getPageCount(); page++) {
                        try (PdfRenderer.Page source = file.openPage(page)) {
                            int width = size == null ? source.getWidth() : size.getInt("width");
                            int height = size == null ? source.getHeight() : size.getInt("height");
                            pages++;
                            append(merged, pages, source, width, height);
                        }
                    }
                }
            }
            write(target, merged::writeTo);
            return new JSONObject()
                    .put("path", target.getPath())
                    .put("page_count", pages)
                    .put("bytes", target.length());
        } finally {
            merged.close();
        }
    }

    private static void append(
            PdfDocument merged, int number, PdfRenderer.Page source, int width, int height) {
        double scale = Math.min(SHARPNESS, Math.sqrt((double) MAX_MERGED_PIXELS / width / height));
        Bitmap picture = picture(
                source, Math.max(1, (int) (width * scale)), Math.max(1, (int) (height * scale)));
        PdfDocument.Page page =
                merged.startPage(new PdfDocument.PageInfo.Builder(width, height, number).create());
        page.getCanvas().drawBitmap(picture, null, new Rect(0, 0, width, height), null);
        merged.finishPage(page);
    }

    private static Bitmap picture(PdfRenderer.Page page, int width, int height) {
        Bitmap bitmap = Bitmap.createBitmap(width, height, Bitmap.Config.ARGB_8888);
        // A page is transparent where nothing is drawn.
        bitmap.eraseColor(Color.WHITE);
        page.render(bitmap, null, null, PdfRenderer.Page.RENDER_MODE_FOR_DISPLAY);
        return bitmap;
    }

    private static String textOf(PdfRenderer file, int page) throws ToolException {
        if (Build.VERSION.SDK_INT < Build.VERSION_CODES.VANILLA_ICE_CREAM) {
            throw new ToolException("Android reads the text of a PDF file from Android 15 on only");
        }
        StringBuilder text = new StringBuilder();
        try (PdfRenderer.Page opened = file.openPage(page - 1)) {
            for (PdfPageTextContent part : opened.getTextContents()) {
                text.append(part.getText());
            }
        }
        return text.toString().replace("\r\n", "\n").trim();
    }

    private static void checkRange(int first, int last, int count) throws ToolException {
        if (first > count || last > count) {
            throw new ToolException("the file has only " + count + " pages");
        }
        if (first > last) {
            throw new ToolException("\"first_page\" must not be after \"last_page\"");
        }
    }

    private static void checkCount(int pages) throws ToolException {
        if (pages > MAX_PICTURES) {
            throw new ToolException("one call draws at most " + MAX_PICTURES + " pages, not " + pages);
        }
    }

    private PdfRenderer open(String path) throws ToolException {
        File file = checked(path);
        try {
            return new PdfRenderer(ParcelFileDescriptor.open(file, ParcelFileDescriptor.MODE_READ_ONLY));
        } catch (SecurityException locked) {
            throw new ToolException("the file is protected by a password");
        } catch (IOException damaged) {
            throw new ToolException("the file is not a PDF file, or is damaged");
        }
    }

    /** Shared storage only: the caller must not reach the app's private files through this tool. */
    private File checked(String path) throws ToolException {
        File file;
        try {
            file = new File(path).getCanonicalFile();
            if (!isBelow(file, Environment.getExternalStorageDirectory())
                    && !isBelow(file, context.getExternalFilesDir(null))) {
                throw new ToolException("\"" + path + "\" does not lie in shared storage");
            }
        } catch (IOException e) {
            throw new ToolException("\"" + path + "\" is not a path");
        }
        if (!file.isFile() || !file.canRead()) {
            throw new ToolException("\"" + path + "\" is not a file that this app may read");
        }
        if (file.length() > MAX_FILE) {
            throw new ToolException("\"" + path + "\" is larger than " + MAX_FILE + " bytes");
        }
        return file;
    }

    private static boolean isBelow(File file, File folder) throws IOException {
        return folder != null && file.getPath().startsWith(folder.getCanonicalPath() + File.separator);
    }

    private File folder(String name) throws ToolException {
        File folder = context.getExternalFilesDir(name);
        if (folder == null) {
            throw new ToolException("the shared storage is not there");
        }
        return folder;
    }

    private interface Content {
        void writeTo(OutputStream out) throws IOException;
    }

    private static void write(File target, Content content) throws ToolException {
        try (OutputStream out = new FileOutputStream(target)) {
            content.writeTo(out);
        } catch (IOException e) {
            throw new ToolException("\"" + target + "\" cannot be written");
        }
    }
}
