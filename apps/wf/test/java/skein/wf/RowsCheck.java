// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** Compares {@link Rows} with lists of strings: what a scanner has put in is what is read, also from changed lines. */
public final class RowsCheck {
    private static final String[] WORDS = {"", "-", "GET", "/a?b=1", "näher", "日本", "x y", "\u0000"};
    private static final int EXTRA = 2;

    private final Random random;
    private final boolean keeps;
    private final Rows rows;
    private final boolean[] filled = new boolean[Rows.COLUMNS + EXTRA];
    private final List<String> lines = new ArrayList<>();
    private final List<String[]> fields = new ArrayList<>(); // a null is a field that the line does not have
    private final List<long[]> numbers = new ArrayList<>();

    private RowsCheck(long seed) {
        random = new Random(seed);
        keeps = random.nextBoolean();
        rows = new Rows(EXTRA, keeps);
        for (int i = 0; i < filled.length; i++) filled[i] = random.nextBoolean();
        rows.clear(filled);
    }

    /** Fills some batches. Returns what is wrong, or null. */
    public static String fault(long seed) {
        RowsCheck check = new RowsCheck(seed);
        for (int batch = 0; batch < 4; batch++) {
            check.fill();
            String fault = check.compare();
            if (fault != null) return "Seed " + seed + ", batch " + batch + ": " + fault;
        }
        return null;
    }

    /** As a scanner does: some fields of some rows, all of them in one array of bytes. */
    private void fill() {
        rows.start();
        lines.clear();
        fields.clear();
        numbers.clear();
        rows.bytes = new byte[1 << 16];
        int at = 0;
        int n = random.nextInt(Rows.ROWS + 1);
        for (int row = 0; row < n; row++) at = fillRow(row, at);
        rows.rows = n;
    }

    private int fillRow(int row, int start) {
        int at = start;
        String[] texts = new String[filled.length];
        StringBuilder line = new StringBuilder();
        for (int column = 0; column < filled.length; column++) {
            if (!filled[column]) continue;
            boolean there = random.nextInt(4) > 0;
            rows.from[column][row] = there ? at : -1;
            if (!there) continue;
            texts[column] = WORDS[random.nextInt(WORDS.length)];
            line.append(texts[column]);
            at = copy(texts[column], at);
            rows.to[column][row] = at;
        }
        rows.lineFrom[row] = start;
        rows.lineTo[row] = at;
        fields.add(texts);
        lines.add(line.toString());
        numbers.add(new long[] {random.nextInt(600), random.nextLong(), random.nextLong(), random.nextLong(), 3600});
        setNumbers(row, numbers.get(row));
        if (random.nextInt(3) == 0) change(row, start, at);
        return at;
    }

    private int copy(String text, int at) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        System.arraycopy(bytes, 0, rows.bytes, at, bytes.length);
        return at + bytes.length;
    }

    private void setNumbers(int row, long[] of) {
        rows.status[row] = (int) of[0];
        rows.size[row] = of[1];
        rows.micros[row] = of[2];
        rows.second[row] = of[3];
        rows.zone[row] = (int) of[4];
    }

    /** A scanner that unescapes a line in place keeps it first. What was read from it is gone. */
    private void change(int row, int from, int to) {
        rows.keepLine(row, from, to);
        Arrays.fill(rows.bytes, from, to, (byte) '#');
        if (!keeps) lines.set(row, "#".repeat(to - from));
        for (int column = 0; column < filled.length; column++) {
            if (fields.get(row)[column] == null) continue;
            int length = rows.to[column][row] - rows.from[column][row];
            fields.get(row)[column] = "#".repeat(length);
        }
    }

    private String compare() {
        if (rows.rows() != lines.size()) return rows.rows() + " rows";
        for (int row = 0; row < rows.rows(); row++) {
            if (!lines.get(row).equals(rows.line(row))) return "line " + row + " is " + rows.line(row);
            for (int column = 0; column < filled.length; column++) {
                String text = rows.text(column, row);
                String expected = fields.get(row)[column];
                if (expected == null ? text != null : !expected.equals(text)) {
                    return "column " + column + " of row " + row + " is " + text + ", not " + expected;
                }
            }
            long[] read = {rows.status(row), rows.size(row), rows.micros(row), rows.second(row), rows.zone(row)};
            if (!Arrays.equals(numbers.get(row), read)) return "numbers of row " + row + ": " + Arrays.toString(read);
        }
        return null;
    }

    /** Returns what is wrong with a batch that no scanner has filled, or null. */
    public static String faultOfEmpty() {
        Rows rows = new Rows(0, false);
        rows.clear(new boolean[0]);
        for (int row = 0; row < Rows.ROWS; row++) {
            for (int column = 0; column < Rows.COLUMNS; column++) {
                if (rows.text(column, row) != null) return "there is a text in column " + column;
            }
            if (rows.status(row) != 0 || rows.zone(row) != 0) return "there is a status or a zone";
            if (rows.size(row) != Rows.NONE || rows.micros(row) != Rows.NONE || rows.second(row) != Rows.NONE) {
                return "there is a number";
            }
        }
        return rows.rows() == 0 ? null : "there are rows";
    }
}
