package dev.droidgate.sample.notes;

import android.app.appfunctions.AppFunctionException;
import android.app.appsearch.GenericDocument;
import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The properties of one document that a caller sent, each read with the type that assets/notes_service.xml
 * declares for it. Properties that the function does not read are ignored: the shell puts the names of nested
 * types there.
 */
final class Arguments {
    static final String DATE_TIME = "java.time.LocalDateTime";

    private final GenericDocument document;
    private final String where;

    Arguments(GenericDocument document, String where) {
        this.document = document;
        this.where = where;
    }

    String schemaType() {
        return document.getSchemaType();
    }

    boolean has(String name) {
        return document.getProperty(name) != null;
    }

    String text(String name, int min, int max) throws AppFunctionException {
        Object value = document.getProperty(name);
        if (!(value instanceof String[]) || ((String[]) value).length != 1) {
            throw invalid(name, "must be one text");
        }
        return sized(name, ((String[]) value)[0], min, max);
    }

    String text(String name, int min, int max, String fallback) throws AppFunctionException {
        return has(name) ? text(name, min, max) : fallback;
    }

    List<String> texts(String name, int maxCount, int maxLength) throws AppFunctionException {
        List<String> texts = new ArrayList<>();
        if (!has(name)) {
            return texts;
        }
        Object value = document.getProperty(name);
        if (!(value instanceof String[]) || ((String[]) value).length > maxCount) {
            throw invalid(name, "must be a list of at most " + maxCount + " texts");
        }
        for (String text : (String[]) value) {
            texts.add(sized(name, text, 1, maxLength));
        }
        return texts;
    }

    <E extends Enum<E>> E oneOf(Class<E> type, String name) throws AppFunctionException {
        String text = text(name, 1, 100);
        for (E constant : type.getEnumConstants()) {
            if (constant.name().equals(text)) {
                return constant;
            }
        }
        throw invalid(name, "must be one of " + Arrays.toString(type.getEnumConstants()));
    }

    <E extends Enum<E>> E oneOf(Class<E> type, String name, E fallback) throws AppFunctionException {
        return has(name) ? oneOf(type, name) : fallback;
    }

    int whole(String name, int min, int max) throws AppFunctionException {
        Object value = document.getProperty(name);
        if (value instanceof long[] && ((long[]) value).length == 1) {
            long number = ((long[]) value)[0];
            if (number >= min && number <= max) {
                return (int) number;
            }
        }
        throw invalid(name, "must be a whole number from " + min + " to " + max);
    }

    int whole(String name, int min, int max, int fallback) throws AppFunctionException {
        return has(name) ? whole(name, min, max) : fallback;
    }

    /** The shell does not know types and sends 50 where 50.0 is meant; both are accepted. */
    double number(String name, double min, double max) throws AppFunctionException {
        Object value = document.getProperty(name);
        double number = Double.NaN;
        if (value instanceof double[] && ((double[]) value).length == 1) {
            number = ((double[]) value)[0];
        } else if (value instanceof long[] && ((long[]) value).length == 1) {
            number = ((long[]) value)[0];
        }
        if (number >= min && number <= max) {
            return number;
        }
        throw invalid(name, "must be a number from " + min + " to " + max);
    }

    boolean flag(String name) throws AppFunctionException {
        Object value = document.getProperty(name);
        if (value instanceof boolean[] && ((boolean[]) value).length == 1) {
            return ((boolean[]) value)[0];
        }
        throw invalid(name, "must be true or false");
    }

    LocalDateTime dateTime(String name) throws AppFunctionException {
        Arguments parts = object(name);
        try {
            return LocalDateTime.of(
                    parts.whole("year", 1, 9999),
                    parts.whole("month", 1, 12),
                    parts.whole("dayOfMonth", 1, 31),
                    parts.whole("hour", 0, 23),
                    parts.whole("minute", 0, 59),
                    parts.whole("second", 0, 59),
                    parts.whole("nanoOfSecond", 0, 999_999_999));
        } catch (DateTimeException noSuchDay) {
            throw invalid(name, "names a day that does not exist");
        }
    }

    Arguments object(String name) throws AppFunctionException {
        List<Arguments> objects = objects(name, 1);
        if (objects.size() != 1) {
            throw invalid(name, "must be one object");
        }
        return objects.get(0);
    }

    List<Arguments> objects(String name, int maxCount) throws AppFunctionException {
        Object value = document.getProperty(name);
        if (!(value instanceof GenericDocument[]) || ((GenericDocument[]) value).length > maxCount) {
            throw invalid(name, maxCount == 1
                    ? "must be an object"
                    : "must be a list of at most " + maxCount + " objects");
        }
        List<Arguments> objects = new ArrayList<>();
        for (GenericDocument each : (GenericDocument[]) value) {
            objects.add(new Arguments(each, where + name + "."));
        }
        return objects;
    }

    AppFunctionException invalid(String name, String reason) {
        return new AppFunctionException(
                AppFunctionException.ERROR_INVALID_ARGUMENT, "\"" + where + name + "\" " + reason);
    }

    private String sized(String name, String text, int min, int max) throws AppFunctionException {
        int length = text.codePointCount(0, text.length());
        if (length < min || length > max) {
            throw invalid(name, "must have " + min + " to " + max + " characters");
        }
        return text;
    }

    static GenericDocument documentOf(LocalDateTime time) {
        return new GenericDocument.Builder<>("", "", DATE_TIME)
                .setPropertyLong("year", time.getYear())
                .setPropertyLong("month", time.getMonthValue())
                .setPropertyLong("dayOfMonth", time.getDayOfMonth())
                .setPropertyLong("hour", time.getHour())
                .setPropertyLong("minute", time.getMinute())
                .setPropertyLong("second", time.getSecond())
                .setPropertyLong("nanoOfSecond", time.getNano())
                .build();
    }
}
