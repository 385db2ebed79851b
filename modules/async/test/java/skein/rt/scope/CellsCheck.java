// SPDX-License-Identifier: Apache-2.0
package skein.rt.scope;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Compares {@link Cells} with three lists: of what is offered, of the calls that go on, and of what can be read. */
public final class CellsCheck {
    private final Random random;
    private final boolean ordered;
    private final Cells cells;
    private final List<Integer> offered = new ArrayList<>();
    private final List<Cells.Cell> calls = new ArrayList<>();
    private final List<Integer> unread = new ArrayList<>(); // in the order in which results must come
    private final List<Integer> done = new ArrayList<>();
    private int made;

    private CellsCheck(long seed) {
        random = new Random(seed);
        ordered = random.nextBoolean();
        cells = new Cells(ordered, true);
    }

    /** Does some hundred random operations. Returns what is wrong, or null. */
    public static String fault(long seed) {
        CellsCheck check = new CellsCheck(seed);
        for (int i = 0; i < 300; i++) {
            String fault = check.operate();
            if (fault == null) fault = check.compare();
            if (fault != null) return "Seed " + seed + ", operation " + i + ": " + fault;
        }
        return null;
    }

    private String operate() {
        return switch (random.nextInt(5)) {
            case 0 -> offer();
            case 1 -> begin();
            case 2 -> beginOffered();
            case 3 -> end();
            default -> read();
        };
    }

    private String offer() {
        if (ordered) unread.add(made);
        offered.add(made);
        cells.offer(made++);
        return null;
    }

    private String begin() {
        Cells.Cell cell = new Cells.Cell();
        cell.value = made;
        if (ordered) unread.add(made);
        made++;
        calls.add(cell);
        cells.begin(cell);
        return null;
    }

    private String beginOffered() {
        Cells.Cell cell = cells.beginOffered();
        if (offered.isEmpty()) return cell == null ? null : "begun, though nothing was offered";
        int expected = offered.remove(0);
        if (cell == null || !cell.value.equals(expected)) return "begun was not what had been offered first";
        calls.add(cell);
        return null;
    }

    private String end() {
        if (calls.isEmpty()) return null;
        Cells.Cell cell = calls.remove(random.nextInt(calls.size()));
        int item = (Integer) cell.value;
        done.add(item);
        if (!ordered) unread.add(item);
        cells.end(cell, -item);
        return null;
    }

    private String read() {
        boolean ready = !unread.isEmpty() && done.contains(unread.get(0));
        if (cells.ready() != ready) return "ready is " + !ready;
        if (!ready) return null;
        Object result = cells.read();
        return result.equals(-unread.remove(0)) ? null : "read " + result;
    }

    private String compare() {
        int running = offered.size() + calls.size();
        int readable = ordered ? unread.size() - running : unread.size();
        if (cells.offered() != offered.size()) return cells.offered() + " offered";
        if (cells.calls() != calls.size()) return cells.calls() + " calls";
        return cells.unread() == running + readable ? null : cells.unread() + " unread";
    }
}
