package dev.droidgate.sample.pdftool;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The text of one page in the order in which the page draws it; a new height on the page is a new line. */
final class PdfText {
    private static final int MAX_CONTENT = 32 * 1024 * 1024;
    private static final int MAX_OPERATORS = 2_000_000;
    private static final int MAX_FORMS = 5;
    private static final double WORD_GAP = -200;
    private static final double LINE_GAP = 0.5;

    private final PdfFile file;
    private final Map<Object, PdfFont> fonts = new HashMap<>();
    private final StringBuilder out = new StringBuilder();
    private PdfFont font;
    private double y;
    private double shownAt;
    private double leading;
    private boolean moved;
    private int operators;

    PdfText(PdfFile file) {
        this.file = file;
    }

    String ofPage(int page) throws ToolException {
        Map<String, Object> dictionary = file.pages().get(page - 1);
        try {
            run(contentOf(dictionary), dictionary.get("Resources"), 0);
        } catch (ToolException e) {
            throw new ToolException("page " + page + ": " + e.getMessage());
        }
        return out.toString().trim();
    }

    private byte[] contentOf(Map<String, Object> page) throws ToolException {
        Object contents = file.resolve(page.get("Contents"));
        List<Object> parts = new ArrayList<>();
        if (contents instanceof List) {
            parts.addAll((List<?>) contents);
        } else {
            parts.add(contents);
        }
        ByteArrayOutputStream joined = new ByteArrayOutputStream();
        for (Object part : parts) {
            Object stream = file.resolve(part);
            if (stream instanceof PdfStream) {
                byte[] decoded = PdfFilters.decode(file, (PdfStream) stream);
                if (joined.size() + decoded.length > MAX_CONTENT) {
                    throw new ToolException("it is too large to read");
                }
                joined.write(decoded, 0, decoded.length);
                joined.write('\n');
            }
        }
        return joined.toByteArray();
    }

    private void run(byte[] content, Object resources, int depth) throws ToolException {
        PdfLexer lexer = new PdfLexer(content, 0);
        List<Object> operands = new ArrayList<>();
        for (Object item = lexer.next(); item != PdfLexer.END; item = lexer.next()) {
            if (!(item instanceof PdfLexer.Word)) {
                operands.add(item);
                continue;
            }
            if (++operators > MAX_OPERATORS) {
                throw new ToolException("it is too large to read");
            }
            String operator = ((PdfLexer.Word) item).text;
            if (operator.equals("ID")) {
                skipInlineImage(content, lexer);
            } else if (operator.equals("Do") && depth < MAX_FORMS) {
                drawForm(last(operands), resources, depth);
            } else {
                apply(operator, operands, resources);
            }
            operands.clear();
        }
    }

    private void apply(String operator, List<Object> operands, Object resources) throws ToolException {
        switch (operator) {
            case "BT":
                y = 0;
                moved = true;
                break;
            case "Tf":
                font = operands.size() < 2 ? null : fontNamed(operands.get(0), resources);
                break;
            case "TL":
                leading = number(operands, 0);
                break;
            case "TD":
                leading = -number(operands, 1);
                move(number(operands, 1));
                break;
            case "Td":
                move(number(operands, 1));
                break;
            case "Tm":
                y = number(operands, 5);
                moved = true;
                break;
            case "T*":
                nextLine();
                break;
            case "'":
            case "\"":
                nextLine();
                show(last(operands));
                break;
            case "Tj":
                show(last(operands));
                break;
            case "TJ":
                showSpaced(last(operands));
                break;
            default:
                break;
        }
    }

    private void move(double down) {
        y += down;
        moved = true;
    }

    private void nextLine() {
        move(leading == 0 ? -1 : -leading);
    }

    private void showSpaced(Object parts) throws ToolException {
        if (!(parts instanceof List)) {
            return;
        }
        for (Object part : (List<?>) parts) {
            if (part instanceof Number && ((Number) part).doubleValue() < WORD_GAP) {
                space();
            } else {
                show(part);
            }
        }
    }

    private void show(Object text) throws ToolException {
        if (!(text instanceof byte[])) {
            return;
        }
        if (font == null) {
            throw new ToolException("it writes text without naming a font");
        }
        if (out.length() > 0 && Math.abs(y - shownAt) > LINE_GAP) {
            out.append('\n');
        } else if (moved) {
            space();
        }
        moved = false;
        shownAt = y;
        out.append(font.decode((byte[]) text));
    }

    private void space() {
        if (out.length() > 0 && !Character.isWhitespace(out.charAt(out.length() - 1))) {
            out.append(' ');
        }
    }

    private PdfFont fontNamed(Object name, Object resources) throws ToolException {
        Object reference = file.dictionary(file.dictionary(resources).get("Font")).get(name);
        PdfFont known = fonts.get(reference);
        if (known == null) {
            known = PdfFont.of(file, reference);
            fonts.put(reference, known);
        }
        return known;
    }

    private void drawForm(Object name, Object resources, int depth) throws ToolException {
        Object drawn = file.resolve(file.dictionary(file.dictionary(resources).get("XObject")).get(name));
        if (!(drawn instanceof PdfStream)) {
            return;
        }
        PdfStream form = (PdfStream) drawn;
        if ("Form".equals(file.resolve(form.dictionary.get("Subtype")))) {
            Object own = form.dictionary.get("Resources");
            run(PdfFilters.decode(file, form), own == null ? resources : own, depth + 1);
        }
    }

    private static void skipInlineImage(byte[] content, PdfLexer lexer) {
        for (int i = lexer.at; i + 3 < content.length; i++) {
            if (PdfLexer.isBlank(content[i]) && content[i + 1] == 'E' && content[i + 2] == 'I'
                    && PdfLexer.isBlank(content[i + 3])) {
                lexer.at = i + 3;
                return;
            }
        }
        lexer.at = content.length;
    }

    private static Object last(List<Object> operands) {
        return operands.isEmpty() ? null : operands.get(operands.size() - 1);
    }

    private static double number(List<Object> operands, int index) {
        Object value = index < operands.size() ? operands.get(index) : null;
        return value instanceof Number ? ((Number) value).doubleValue() : 0;
    }
}
