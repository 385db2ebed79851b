// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.util.ArrayList;
import java.util.List;

/**
 * A format of fields with fixed text between them, such as Apache's and nginx's:
 * <pre>
 *   literal 0, field 0, literal 1, field 1, ... field n, literal n + 1, end of line
 * </pre>
 * A field ends at the first place where the next literal follows, and a number follows that if the next field is a number. If
 * quotes stand around a field, a quote after a backslash doesn't end the field.
 *
 * @param literals the texts, one more than fields; only the first and the last may be empty
 * @param fields the fields
 * @param open whether a space and more text may follow the end
 * @param sparse whether fields may be empty, except client, host, URL, request, time and status
 * @param bare whether a line may also have no quotes at all, with minus signs for the fields that are quoted otherwise
 */
public record TextFormat(List<String> literals, List<Field> fields, boolean open, boolean sparse, boolean bare)
        implements LogFormat {
    /** What a field's text must be. */
    public enum Kind {
        /** Any text. It is empty in a sparse format only, unless quotes stand around it. */
        TEXT,
        /** Texts with {@code ", "} or {@code " : "} between them, as nginx writes values of several upstream servers. */
        LIST,
        /** The address of a client, without its port; of a list, the first one. */
        ADDRESS,
        /** As ADDRESS, always with a port. */
        ADDRESS_PORT,
        /** Method, URL and protocol, or any text, which is then the URL. */
        REQUEST,
        /** As REQUEST, of a URL with scheme and host; these are no part of the URL then. */
        ABSOLUTE_REQUEST,
        /** The same for a URL alone. */
        ABSOLUTE_URL,
        /** A time by the field's pattern. */
        TIME,
        /** The day of a time, in a format whose values have names. */
        DAY,
        /** The time of that day. */
        CLOCK,
        /** Three digits, or a minus sign. */
        STATUS,
        /** Digits, or a minus sign. */
        SIZE,
        /** Digits, or a minus sign, without a numeric column in {@link Rows}. */
        NUMBER,
        /** A decimal number in a unit of the field's nanoseconds, or a minus sign. */
        DURATION
    }

    /**
     * A field.
     *
     * @param name its name in reports on malformed lines
     * @param kind its syntax
     * @param column its column in a {@link Rows}, or -1
     * @param pattern for a time, see {@link TimeText}
     * @param nanos for a duration, the unit in nanoseconds; below zero if a whole number may have another unit and is therefore ignored
     * @param padded whether spaces may stand around it
     */
    public record Field(String name, Kind kind, int column, String pattern, long nanos, boolean padded) {
        boolean isNumber() {
            return kind == Kind.STATUS || kind == Kind.SIZE || kind == Kind.NUMBER || kind == Kind.DURATION;
        }

        boolean isRequest() {
            return kind == Kind.REQUEST || kind == Kind.ABSOLUTE_REQUEST;
        }
    }

    /** Checks that literals and fields alternate. */
    public TextFormat {
        literals = List.copyOf(literals);
        fields = List.copyOf(fields);
        if (literals.size() != fields.size() + 1) throw new IllegalArgumentException("one literal more than fields");
    }

    /** Returns whether times can be read by a pattern of {@code strftime}; an empty one is for the usual forms. */
    public static boolean isTimePattern(String pattern) {
        return TimeText.isKnown(pattern);
    }

    @Override
    public Scanner scanner() {
        return new TextScanner(this);
    }

    /** The same format for lines without quotes. */
    TextFormat withoutQuotes() {
        List<String> unquoted =
                literals.stream().map(literal -> literal.replace("\"", "")).toList();
        return new TextFormat(unquoted, fields, open, sparse, false);
    }

    @Override
    public List<String> faults() {
        List<String> faults = new ArrayList<>();
        faults.add("empty");
        for (Field field : fields) faults.add(field.name);
        faults.add("end");
        return faults;
    }
}
