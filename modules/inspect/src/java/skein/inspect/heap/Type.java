// SPDX-License-Identifier: Apache-2.0
package skein.inspect.heap;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** A class of the program, as the file describes it. */
final class Type {
    /** The size of a value in bytes, by the format's number of its type. */
    static final int[] SIZES = {0, 0, 8, 0, 1, 2, 4, 8, 1, 2, 4, 8};

    static final int REFERENCE = 2;

    /** A field of instances, or a static field that holds {@code value}. */
    record Field(String name, int type, long value) {}

    final long id;
    final long loader;
    final List<Field> own = new ArrayList<>(); // of instances, in the order of the file
    final List<Field> statics = new ArrayList<>(); // references only
    String name = "?";
    Type parent;
    private final Map<String, Field> offsets = new HashMap<>(); // by name; the value is the offset
    private boolean laidOut;
    private int[] followed;

    Type(long id, long loader) {
        this.id = id;
        this.loader = loader;
    }

    /** Returns whether this is the class of that name or a subclass of it. */
    boolean isA(String ancestor) {
        for (Type t = this; t != null; t = t.parent) if (t.name.equals(ancestor)) return true;
        return false;
    }

    /** Returns the field, whose value is its offset in an instance, or null. The fields of a class come before those of its parent. */
    Field field(String field) {
        if (!laidOut) {
            long offset = 0;
            for (Type t = this; t != null; t = t.parent) {
                for (Field f : t.own) {
                    offsets.putIfAbsent(f.name, new Field(f.name, f.type, offset));
                    offsets.put(t.name + "." + f.name, new Field(f.name, f.type, offset));
                    offset += SIZES[f.type];
                }
            }
            laidOut = true;
        }
        return offsets.get(field);
    }

    /** Returns the offsets of the references in an instance, without fields whose {@code class.field} satisfies {@code skipped}. */
    int[] followed(Predicate<String> skipped) {
        if (followed != null) return followed;
        List<Integer> found = new ArrayList<>();
        int offset = 0;
        for (Type t = this; t != null; t = t.parent) {
            for (Field f : t.own) {
                if (f.type == REFERENCE && !skipped.test(t.name + "." + f.name)) found.add(offset);
                offset += SIZES[f.type];
            }
        }
        return followed = found.stream().mapToInt(Integer::intValue).toArray();
    }
}
