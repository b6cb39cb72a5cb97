package dev.droidgate.sample.pdftool;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/** Undoes the stream filters that plain text PDFs use. */
final class PdfFilters {
    private static final int MAX_DECODED = 32 * 1024 * 1024;

    private PdfFilters() {
    }

    static List<Object> namesOf(PdfFile file, PdfStream stream) throws ToolException {
        Object filter = file.resolve(stream.dictionary.get("Filter"));
        List<Object> names = new ArrayList<>();
        if (filter instanceof List) {
            for (Object name : (List<?>) filter) {
                names.add(file.resolve(name));
            }
        } else if (filter != null) {
            names.add(filter);
        }
        return names;
    }

    static byte[] decode(PdfFile file, PdfStream stream) throws ToolException {
        return decode(file, stream, namesOf(file, stream));
    }

    /** Undoes some of a stream's filters, the first ones. */
    static byte[] decode(PdfFile file, PdfStream stream, List<Object> filters) throws ToolException {
        if (stream.dictionary.containsKey("DecodeParms") && usesPredictor(file, stream)) {
            throw new ToolException("the file packs its pages in a way this tool does not know (predictor)");
        }
        byte[] data = stream.stored;
        for (Object name : filters) {
            if ("FlateDecode".equals(name)) {
                data = inflate(data);
            } else if ("ASCII85Decode".equals(name)) {
                data = ascii85(data);
            } else if ("ASCIIHexDecode".equals(name)) {
                data = asciiHex(data);
            } else {
                throw new ToolException("the file packs its pages in a way this tool does not know (" + name + ")");
            }
        }
        return data;
    }

    private static boolean usesPredictor(PdfFile file, PdfStream stream) throws ToolException {
        Object parameters = file.resolve(stream.dictionary.get("DecodeParms"));
        List<Object> each = new ArrayList<>();
        if (parameters instanceof List) {
            each.addAll((List<?>) parameters);
        } else {
            each.add(parameters);
        }
        for (Object one : each) {
            Object predictor = file.resolve(file.dictionary(one).get("Predictor"));
            if (predictor instanceof Number && ((Number) predictor).intValue() > 1) {
                return true;
            }
        }
        return false;
    }

    private static byte[] inflate(byte[] data) throws ToolException {
        Inflater inflater = new Inflater();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] buffer = new byte[16 * 1024];
        try {
            inflater.setInput(data);
            while (!inflater.finished()) {
                int count = inflater.inflate(buffer);
                if (count == 0 && (inflater.needsInput() || inflater.needsDictionary())) {
                    break;
                }
                out.write(buffer, 0, count);
                if (out.size() > MAX_DECODED) {
                    throw new ToolException("a part of the file unpacks to more than " + MAX_DECODED + " bytes");
                }
            }
        } catch (DataFormatException e) {
            throw new ToolException("a packed part of the file is damaged");
        } finally {
            inflater.end();
        }
        return out.toByteArray();
    }

    private static byte[] ascii85(byte[] data) throws ToolException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        long group = 0;
        int count = 0;
        for (byte b : data) {
            if (PdfLexer.isBlank(b)) {
                continue;
            }
            if (b == '~') {
                break;
            }
            if (b == 'z' && count == 0) {
                emit(out, 0, 4);
                continue;
            }
            if (b < '!' || b > 'u') {
                throw new ToolException("a packed part of the file is damaged");
            }
            group = group * 85 + (b - '!');
            if (++count == 5) {
                emit(out, group, 4);
                group = 0;
                count = 0;
            }
        }
        if (count > 0) {
            for (int i = count; i < 5; i++) {
                group = group * 85 + 84;
            }
            emit(out, group, count - 1);
        }
        return out.toByteArray();
    }

    private static void emit(ByteArrayOutputStream out, long group, int bytes) {
        for (int i = 0; i < bytes; i++) {
            out.write((int) (group >> (24 - 8 * i)));
        }
    }

    private static byte[] asciiHex(byte[] data) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        int pending = -1;
        for (byte b : data) {
            if (b == '>') {
                break;
            }
            int digit = Character.digit((char) (b & 0xff), 16);
            if (digit < 0) {
                continue;
            }
            if (pending < 0) {
                pending = digit;
            } else {
                out.write(pending * 16 + digit);
                pending = -1;
            }
        }
        if (pending >= 0) {
            out.write(pending * 16);
        }
        return out.toByteArray();
    }
}
