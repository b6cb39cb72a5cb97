package dev.droidgate.sample.pdftool;

import android.content.Context;
import android.os.Environment;
import java.io.DataInputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;

/** What the tools do, once their parameters are known to fit their schemas. */
final class PdfTools {
    private static final int MAX_FILE = 16 * 1024 * 1024;
    private static final int MAX_TEXT = 100_000;
    private static final int SNIPPET = 40;

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
            case "extract_images":
                return extractImages(args);
            case "search_text":
                return searchText(args);
            case "merge":
                return merge(args);
            default:
                throw new IllegalStateException("declared but not written: " + tool);
        }
    }

    private JSONObject pageCount(JSONObject args) throws ToolException, JSONException {
        return new JSONObject().put("page_count", open(args.getString("path")).pages().size());
    }

    private JSONObject extractText(JSONObject args) throws ToolException, JSONException {
        PdfFile file = open(args.getString("path"));
        int count = file.pages().size();
        int first = args.optInt("first_page", 1);
        int last = args.optInt("last_page", count);
        if (first > count || last > count) {
            throw new ToolException("the file has only " + count + " pages");
        }
        if (first > last) {
            throw new ToolException("\"first_page\" must not be after \"last_page\"");
        }
        StringBuilder text = new StringBuilder();
        for (int page = first; page <= last && text.length() <= MAX_TEXT; page++) {
            text.append(separator(args.optString("separator", "blank_line"), page, page == first));
            text.append(new PdfText(file).ofPage(page));
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
        PdfFile file = open(args.getString("path"));
        int limit = args.optInt("max_results", 20);
        int flags = args.optBoolean("match_case", false) ? 0 : Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE;
        Pattern query = Pattern.compile(args.getString("query"), Pattern.LITERAL | flags);
        JSONArray found = new JSONArray();
        for (int page = 1; page <= file.pages().size() && found.length() < limit; page++) {
            String text = new PdfText(file).ofPage(page).replaceAll("\\s+", " ");
            Matcher matcher = query.matcher(text);
            while (found.length() < limit && matcher.find()) {
                int from = Math.max(0, matcher.start() - SNIPPET);
                int to = Math.min(text.length(), matcher.end() + SNIPPET);
                found.put(new JSONObject().put("page", page).put("snippet", text.substring(from, to)));
            }
        }
        return new JSONObject().put("results", found);
    }

    private JSONObject extractImages(JSONObject args) throws ToolException, JSONException {
        String path = args.getString("path");
        String base = new File(path).getName().replaceAll("(?i)\\.pdf$", "").replaceAll("[^A-Za-z0-9_-]", "_");
        PdfImages images = new PdfImages(open(path), args.getString("format").equals("png"));
        return images.save(folder("images"), base, args.optInt("max_images", 20));
    }

    private JSONObject merge(JSONObject args) throws ToolException, JSONException {
        List<PdfFile> files = new ArrayList<>();
        JSONArray paths = args.getJSONArray("paths");
        int pages = 0;
        long bytes = 0;
        for (int i = 0; i < paths.length(); i++) {
            bytes += checked(paths.getString(i)).length();
            if (bytes > MAX_FILE) {
                throw new ToolException("the files are larger than " + MAX_FILE + " bytes together");
            }
            PdfFile file = open(paths.getString(i));
            pages += file.pages().size();
            files.add(file);
        }
        File target = new File(folder("merged"), args.getString("output_name") + ".pdf");
        JSONObject metadata = args.has("metadata") ? args.getJSONObject("metadata") : new JSONObject();
        write(target, new PdfMerger().merge(files, metadata));
        return new JSONObject()
                .put("path", target.getPath())
                .put("page_count", pages)
                .put("bytes", target.length());
    }

    private PdfFile open(String path) throws ToolException {
        File file = checked(path);
        byte[] data = new byte[(int) file.length()];
        try (DataInputStream in = new DataInputStream(new FileInputStream(file))) {
            in.readFully(data);
        } catch (IOException e) {
            throw new ToolException("\"" + path + "\" cannot be read");
        }
        return PdfFile.parse(data);
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

    static void write(File target, byte[] data) throws ToolException {
        try (FileOutputStream out = new FileOutputStream(target)) {
            out.write(data);
        } catch (IOException e) {
            throw new ToolException("\"" + target + "\" cannot be written");
        }
    }
}
