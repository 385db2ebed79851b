// SPDX-License-Identifier: Apache-2.0
package skein.rt.block;

import clojure.lang.RT;
import java.lang.reflect.Field;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Access to the mutable fields of a deftype, for go blocks in its methods. The fields are private, and the code of such
 * a block is not in the method's class. Volatile fields are read and written as such.
 */
public final class Fields {
    // One table per class, which is garbage when the class is.
    private static final ClassValue<ConcurrentHashMap<String, Field>> TABLES = new ClassValue<>() {
        @Override
        protected ConcurrentHashMap<String, Field> computeValue(Class<?> type) {
            return new ConcurrentHashMap<>();
        }
    };

    private Fields() {}

    /** Returns the value of {@code owner}'s field {@code name}; a primitive is boxed. */
    public static Object get(Object owner, String name) {
        try {
            return field(owner.getClass(), name).get(owner);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e); // the field was made accessible
        }
    }

    /** Sets {@code owner}'s field {@code name}; Clojure's casts convert to a primitive. Returns {@code v}. */
    public static Object set(Object owner, String name, Object v) {
        Field f = field(owner.getClass(), name);
        try {
            f.set(owner, cast(f.getType(), v));
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
        return v;
    }

    private static Field field(Class<?> type, String name) {
        return TABLES.get(type).computeIfAbsent(name, n -> {
            try {
                Field f = type.getDeclaredField(n);
                f.setAccessible(true);
                return f;
            } catch (NoSuchFieldException e) {
                throw new IllegalStateException(type.getName() + " has no field " + n + ".", e);
            }
        });
    }

    private static Object cast(Class<?> type, Object v) {
        if (!type.isPrimitive()) return v;
        if (type == long.class) return RT.longCast(v);
        if (type == double.class) return RT.doubleCast(v);
        if (type == int.class) return RT.intCast(v);
        if (type == boolean.class) return RT.booleanCast(v);
        if (type == float.class) return RT.floatCast(v);
        if (type == short.class) return RT.shortCast(v);
        if (type == byte.class) return RT.byteCast(v);
        return RT.charCast(v);
    }
}
