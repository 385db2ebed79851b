// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import skein.fold.files.Bytes;

/** Scans lines of a {@link JsonFormat}: checks the syntax of the whole line, and picks the values of fields. */
final class JsonScanner extends KeyedScanner {
    private static final int MAX_DEPTH = 100;

    private final FieldNames paths; // with the beginnings of paths, so that keys of other objects are not looked up
    private final Text path = new Text(256);

    JsonScanner(JsonFormat format) {
        super(format.fields(), format.own());
        paths = new FieldNames(format.fields(), true);
    }

    @Override
    int scan(byte[] bytes, int at, int end, Rows batch, int row) {
        if (at == end) return 0;
        begin(bytes, at, end);
        path.length = 0;
        skipSpace();
        if (!object(0, true)) return MALFORMED;
        skipSpace();
        return this.at == end ? fill(batch, row) : MALFORMED;
    }

    private void skipSpace() {
        while (at < end && (bytes[at] == ' ' || bytes[at] == '\t' || bytes[at] == '\r')) at++;
    }

    private boolean take(char c) {
        if (at >= end || bytes[at] != c) return false;
        at++;
        return true;
    }

    /** Reads an object; its keys are looked up if {@code wanted}. */
    private boolean object(int depth, boolean wanted) {
        if (depth > MAX_DEPTH || !take('{')) return false;
        skipSpace();
        if (take('}')) return true;
        for (int prefix = path.length; ; path.length = prefix) {
            skipSpace();
            int keyFrom = at + 1;
            if (!string()) return false;
            int entry = wanted ? lookUp(prefix, keyFrom, at - 1) : 0;
            skipSpace();
            if (!take(':')) return false;
            skipSpace();
            if (!value(depth, entry)) return false;
            skipSpace();
            if (take(',')) continue;
            path.length = prefix;
            return take('}');
        }
    }

    /** Returns the entry of a key's path in {@link #paths}, or 0. Afterwards {@link #path} is the prefix for what is below. */
    private int lookUp(int prefix, int keyFrom, int keyTo) {
        if (prefix > 0) path.add('.');
        path.add(bytes, keyFrom, keyTo - keyFrom);
        path.reserve(Bytes.PAD);
        int entry = paths.entry(path.bytes, 0, path.length);
        if (entry != 0 || Bytes.indexOf(bytes, keyFrom, keyTo, (byte) '\\') == keyTo) return entry;
        path.length = JsonEscapes.unescape(path.bytes, path.length - (keyTo - keyFrom), path.length);
        return paths.entry(path.bytes, 0, path.length);
    }

    private boolean value(int depth, int entry) {
        if (at >= end) return false;
        int start = at;
        switch (bytes[at]) {
            case '{' -> {
                return object(depth + 1, entry != 0);
            }
            case '[' -> {
                return array(depth + 1, entry);
            }
            case '"' -> {
                boolean whole = string();
                if (whole && entry != 0) pick(entry, start + 1, at - 1);
                return whole;
            }
            default -> {
                if (!scalar()) return false;
                if (entry != 0 && (bytes[start] < 'a' || bytes[start] != 'n' && isOwn(entry))) pick(entry, start, at);
                return true;
            }
        }
    }

    /** Returns whether a value goes to a column of the format itself. Only there do {@code true} and {@code false} count as values. */
    private boolean isOwn(int entry) {
        int field = paths.field(entry);
        return field >= 0 && fields[field].column() >= Rows.COLUMNS;
    }

    /** Reads an array; its first element counts as the value. */
    private boolean array(int depth, int entry) {
        if (depth > MAX_DEPTH || !take('[')) return false;
        skipSpace();
        if (take(']')) return true;
        for (int first = entry; ; first = 0) {
            skipSpace();
            if (!value(depth, first)) return false;
            skipSpace();
            if (!take(',')) return take(']');
        }
    }

    private boolean scalar() {
        int start = at;
        while (at < end && bytes[at] != ',' && bytes[at] != '}' && bytes[at] != ']' && bytes[at] > ' ') at++;
        return switch (at - start) {
            case 0 -> false;
            case 4 -> is(start, "true") || is(start, "null") || isNumber(bytes, start, at);
            case 5 -> is(start, "false") || isNumber(bytes, start, at);
            default -> isNumber(bytes, start, at);
        };
    }

    private boolean is(int start, String text) {
        for (int i = 0; i < text.length(); i++) if (bytes[start + i] != text.charAt(i)) return false;
        return true;
    }

    /** Reads a string, and leaves {@link #at} after its second quote. */
    private boolean string() {
        if (!take('"')) return false;
        for (int from = at; ; at++) {
            at = Bytes.indexOf(bytes, at, end, (byte) '"');
            if (at == end) return false;
            int backslash = at;
            while (backslash > from && bytes[backslash - 1] == '\\') backslash--;
            if ((at - backslash & 1) == 0) break;
        }
        at++;
        return true;
    }

    private void pick(int entry, int valueFrom, int valueTo) {
        int field = paths.field(entry);
        if (field >= 0)
            pick(field, valueFrom, valueTo, Bytes.indexOf(bytes, valueFrom, valueTo, (byte) '\\') < valueTo);
    }
}
