// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import clojure.lang.Associative;
import clojure.lang.RT;
import clojure.lang.Var;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * Lets a block that resumes on another thread {@code set!} the bindings that it made itself. Clojure gives a
 * binding to the thread that made it, and nobody else may set it.
 */
public final class Bindings {
    /*
     * A thread's bindings are a chain of levels (Var.Frame), one for each push, each with a map of all vars to
     * their boxes (Var.TBox), those of the levels below included. Both classes are Clojure's own affair; they
     * are reached by reflection, as nothing else tells whose a box is.
     */
    private static final Class<?> LEVEL = Var.getThreadBindingFrame().getClass();
    private static final Field MAP = field(LEVEL, "bindings");
    private static final Field BELOW = field(LEVEL, "prev");
    private static final Class<?> BOX = nested("clojure.lang.Var$TBox");
    private static final Field OWNER = field(BOX, "thread");
    private static final Field VALUE = field(BOX, "val");
    private static final Constructor<?> NEW_LEVEL = constructor(LEVEL, Associative.class, LEVEL);
    private static final Constructor<?> NEW_BOX = constructor(BOX, Thread.class, Object.class);

    private Bindings() {}

    /** Makes this thread the owner of all of its bindings above the level {@code base}. */
    public static void adopt(Object base) {
        Object top = Var.getThreadBindingFrame();
        if (top == base) return;
        try {
            if (foreign((Associative) MAP.get(top), (Associative) MAP.get(base))) {
                Var.resetThreadBindingFrame(copy(top, base, new IdentityHashMap<>()));
            }
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("Clojure keeps thread bindings in another way than expected.", e);
        }
    }

    private static boolean foreign(Associative map, Associative below) throws ReflectiveOperationException {
        for (Object o : (Iterable<?>) map) {
            Map.Entry<?, ?> e = (Map.Entry<?, ?>) o;
            if (e.getValue() != RT.get(below, e.getKey())) return OWNER.get(e.getValue()) != Thread.currentThread();
        }
        return false;
    }

    private static Object copy(Object level, Object base, Map<Object, Object> boxes)
            throws ReflectiveOperationException {
        if (level == base || level == null) return level;
        Object below = copy(BELOW.get(level), base, boxes);
        Associative map = (Associative) MAP.get(level);
        Associative bottom = (Associative) MAP.get(base);
        Associative mine = map;
        for (Object o : (Iterable<?>) map) {
            Map.Entry<?, ?> e = (Map.Entry<?, ?>) o;
            Object box = e.getValue();
            if (box == RT.get(bottom, e.getKey())) continue;
            Object copy = boxes.get(box);
            if (copy == null) boxes.put(box, copy = NEW_BOX.newInstance(Thread.currentThread(), VALUE.get(box)));
            mine = mine.assoc(e.getKey(), copy);
        }
        return NEW_LEVEL.newInstance(mine, below);
    }

    private static Class<?> nested(String name) {
        try {
            return Class.forName(name, false, Var.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new LinkageError(name, e);
        }
    }

    private static Field field(Class<?> type, String name) {
        try {
            Field f = type.getDeclaredField(name);
            f.setAccessible(true);
            return f;
        } catch (NoSuchFieldException e) {
            throw new LinkageError(name, e);
        }
    }

    private static Constructor<?> constructor(Class<?> type, Class<?>... parameters) {
        try {
            Constructor<?> c = type.getDeclaredConstructor(parameters);
            c.setAccessible(true);
            return c;
        } catch (NoSuchMethodException e) {
            throw new LinkageError(type.getName(), e);
        }
    }
}
