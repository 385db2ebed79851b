// SPDX-License-Identifier: Apache-2.0
package skein.wf;

import java.util.Arrays;
import java.util.List;
import skein.fold.files.Bytes;

/** Finds fields by their names, in place. For one thread. */
final class FieldNames {
    private final KeyTable names =
            new KeyTable(1, 256, new Budget(Long.MAX_VALUE)); // number of the field + 1, 0 if only a beginning

    /** Finds the names of {@code fields}; if {@code paths}, also the beginnings of names, up to a dot. */
    FieldNames(List<TextFormat.Field> fields, boolean paths) {
        for (int i = fields.size() - 1; i >= 0; i--) {
            String name = fields.get(i).name();
            for (int dot = name.indexOf('.'); paths && dot >= 0; dot = name.indexOf('.', dot + 1))
                add(name.substring(0, dot));
            int entry = add(name);
            names.cells[entry] = i + 1;
        }
    }

    private int add(String name) {
        byte[] padded = Arrays.copyOf(Text.literal(name), name.length() + Bytes.PAD);
        int[] entry = new int[1];
        names.findAll(padded, new int[] {0}, new int[] {name.length()}, 1, entry);
        return entry[0];
    }

    /** Returns the entry of a name, or 0 when there is none. */
    int entry(byte[] bytes, int from, int to) {
        return names.lookUp(bytes, from, to);
    }

    /** Returns the number of an entry's field, or -1 when it is only the beginning of names, or no entry. */
    int field(int entry) {
        return entry == 0 ? -1 : (int) names.cells[entry] - 1;
    }
}
