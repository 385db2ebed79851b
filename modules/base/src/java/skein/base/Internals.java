// SPDX-License-Identifier: Apache-2.0
package skein.base;

import clojure.lang.Associative;
import clojure.lang.IFn;
import clojure.lang.LockingTransaction;
import clojure.lang.RT;
import clojure.lang.Var;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InaccessibleObjectException;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * The internals of Clojure that Skein's Java code uses by reflection. Clojure does not promise to keep them. Those that
 * Clojure code uses are in the namespace skein.impl.internals. Its test covers both, with each supported version.
 */
public final class Internals {
    private Internals() {}

    // Thread bindings

    /*
     * A thread's bindings are a chain of levels (Var.Frame), one for each push. Each level has a map from all bound vars
     * to their boxes (Var.TBox), including those of the levels below. No public method returns the thread that owns a box.
     */
    private static final Class<?> LEVEL = Var.getThreadBindingFrame().getClass();
    private static final Field MAP = required(LEVEL, "bindings");
    private static final Field BELOW = required(LEVEL, "prev");
    private static final Class<?> BOX = nested("clojure.lang.Var$TBox");
    private static final Field OWNER = required(BOX, "thread");
    private static final Field VALUE = required(BOX, "val");
    private static final Constructor<?> NEW_LEVEL = constructor(LEVEL, Associative.class, LEVEL);
    private static final Constructor<?> NEW_BOX = constructor(BOX, Thread.class, Object.class);

    /**
     * Makes this thread the owner of all of its bindings above the level {@code base}, an earlier result of
     * {@code Var.getThreadBindingFrame}. Clojure lets only the thread that made a binding {@code set!} it. After this
     * call, a go block that resumes on another thread can set the bindings that it made itself.
     */
    public static void adoptBindings(Object base) {
        Object top = Var.getThreadBindingFrame();
        if (top == base) return;
        try {
            if (foreign((Associative) MAP.get(top), (Associative) MAP.get(base))) {
                Var.resetThreadBindingFrame(copy(top, base, new IdentityHashMap<>()));
            }
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("Clojure does not keep thread bindings as expected.", e);
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

    // The values that a function closes over

    /*
     * Clojure's compiler keeps the values that a function closes over in fields with the locals' names. The two fields of
     * a function returned by comp are constants here, so that reading them is as fast as in the function itself.
     */
    private static final Class<?> COMPOSITION = ((IFn)
                    RT.var("clojure.core", "comp").deref())
            .invoke(RT.var("clojure.core", "inc"), RT.var("clojure.core", "dec"))
            .getClass();
    private static final Field FIRST = field(COMPOSITION, "f");
    private static final Field SECOND = field(COMPOSITION, "g");

    /** Returns the value of the field {@code name} of {@code holder}, such as a local of a closure; null if there is none. */
    public static Object closedOver(Object holder, String name) {
        return get(field(holder.getClass(), name), holder);
    }

    /** Returns whether {@code f} was made by {@code comp}, so that {@link #outer} and {@link #inner} return its parts. */
    public static boolean isComposition(Object f) {
        return f.getClass() == COMPOSITION && FIRST != null && SECOND != null;
    }

    /** Returns {@code f} of {@code (comp f g)}. */
    public static Object outer(Object composition) {
        return get(FIRST, composition);
    }

    /** Returns {@code g} of {@code (comp f g)}, which is a composition too if comp got more functions. */
    public static Object inner(Object composition) {
        return get(SECOND, composition);
    }

    // Transactions

    private static final Field TRANSACTION = required(LockingTransaction.class, "transaction");
    private static final Field CHANGED = required(LockingTransaction.class, "sets");
    private static final Field COMMUTED = required(LockingTransaction.class, "commutes");
    private static final Field ENSURED = required(LockingTransaction.class, "ensures");

    /**
     * Returns whether this thread is in a transaction that has changed or ensured a ref. Until it ends, a transaction that
     * changes the same ref waits for it, for at most 100 ms.
     */
    public static boolean holdsRefs() {
        if (!LockingTransaction.isRunning()) return false;
        Object t = ((ThreadLocal<?>) get(TRANSACTION, null)).get();
        return !((Collection<?>) get(CHANGED, t)).isEmpty()
                || !((Map<?, ?>) get(COMMUTED, t)).isEmpty()
                || !((Collection<?>) get(ENSURED, t)).isEmpty();
    }

    // Names of classes

    /** Returns the class name of the function that contains the named class: {@code demo$f} for {@code demo$f$reify__12}. */
    public static String function(String className) {
        int end = className.length();
        for (String part : new String[] {"$fn__", "$reify__"}) {
            int i = className.indexOf(part);
            if (i > 0 && i < end) end = i;
        }
        return className.substring(0, end);
    }

    /** Returns whether a {@code reify} form made the class. */
    public static boolean isReify(Class<?> c) {
        return c.getName().contains("$reify__");
    }

    // Reflection

    private static Object get(Field field, Object of) {
        try {
            return field == null ? null : field.get(of);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e); // it was made accessible
        }
    }

    private static Field field(Class<?> type, String name) {
        try {
            Field f = type.getDeclaredField(name);
            f.setAccessible(true);
            return f;
        } catch (NoSuchFieldException | InaccessibleObjectException e) {
            return null;
        }
    }

    private static Field required(Class<?> type, String name) {
        Field f = field(type, name);
        if (f == null) throw new LinkageError(type.getName() + " has no field " + name);
        return f;
    }

    private static Class<?> nested(String name) {
        try {
            return Class.forName(name, false, Var.class.getClassLoader());
        } catch (ClassNotFoundException e) {
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
