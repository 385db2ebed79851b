// SPDX-License-Identifier: Apache-2.0
package skein.fold.engine;

import clojure.lang.AFn;
import clojure.lang.AFunction;
import clojure.lang.Fn;
import clojure.lang.IFn;
import clojure.lang.IPersistentCollection;
import clojure.lang.Keyword;
import clojure.lang.MultiFn;
import clojure.lang.RT;
import clojure.lang.RestFn;
import clojure.lang.Symbol;
import clojure.lang.Var;
import java.lang.reflect.Field;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import skein.base.Internals;

/**
 * Inspects transducers, which are opaque functions.
 *
 * <p>The parts of a composition made by {@code comp} are read from its fields. To find out whether a transducer keeps state, it is
 * applied to a step twice. Objects that one of the two reducing functions closes over and the other does not, also through other
 * functions, are its state; so is a mutable field. State that both share, such as an atom for statistics, existed before; it must be
 * safe for several threads.
 */
public final class Stages {
    private static final IFn IDENTITY = new AFn() {};
    private static final Class<?> TAKE_WHILE =
            core("take-while").invoke(IDENTITY).getClass();
    private static final Class<?> HALT_WHEN = core("halt-when").invoke(IDENTITY).getClass();
    private static final int MAX_DEPTH = 8;

    /** The fields of a class that hold an instance's state; null for a class that can't be inspected. */
    private static final ClassValue<Field[]> FIELDS = new ClassValue<>() {
        @Override
        protected Field[] computeValue(Class<?> type) {
            List<Field> fields = new ArrayList<>();
            for (Class<?> c = type; isOwn(c); c = c.getSuperclass()) {
                for (Field field : c.getDeclaredFields()) {
                    if (!Modifier.isStatic(field.getModifiers())) fields.add(accessible(field));
                }
            }
            return fields.toArray(new Field[0]);
        }
    };

    /** The arities, up to two, of a class's instances besides those of a RestFn: bit n is set if it takes n arguments. */
    private static final ClassValue<Integer> ARITIES = new ClassValue<>() {
        @Override
        protected Integer computeValue(Class<?> type) {
            int arities = 0;
            for (Class<?> c = type; isOwn(c); c = c.getSuperclass()) {
                for (var method : c.getDeclaredMethods()) {
                    if (method.getName().equals("invoke") && method.getParameterCount() <= 2)
                        arities |= 1 << method.getParameterCount();
                }
            }
            return isLookup(type) ? arities & ~(1 << 1) : arities;
        }
    };

    private Stages() {}

    private static IFn core(String name) {
        return (IFn) RT.var("clojure.core", name).deref();
    }

    /** Returns whether {@code c} is not one of the classes of Clojure that all functions inherit from. */
    private static boolean isOwn(Class<?> c) {
        return c != null && c != AFunction.class && c != AFn.class && c != RestFn.class;
    }

    /** Returns whether a class's arity of one looks something up instead of completing. */
    private static boolean isLookup(Class<?> type) {
        return Stream.of(Keyword.class, Symbol.class, Collection.class, Map.class, MultiFn.class)
                .anyMatch(c -> c.isAssignableFrom(type));
    }

    private static Field accessible(Field field) {
        try {
            field.setAccessible(true);
            return field;
        } catch (InaccessibleObjectException e) {
            return null; // a class of the JDK
        }
    }

    private static Object get(Field field, Object of) {
        try {
            return field.get(of);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }

    /** Returns the transducers that {@code xform} is composed of, in the order in which elements pass them. */
    public static IFn[] of(IFn xform) {
        if (!Internals.isComposition(xform)) return new IFn[] {xform};
        List<IFn> all = new ArrayList<>();
        flatten(xform, all);
        return all.toArray(new IFn[0]);
    }

    private static void flatten(Object xform, List<IFn> all) {
        if (Internals.isComposition(xform)) {
            flatten(Internals.outer(xform), all);
            flatten(Internals.inner(xform), all);
        } else {
            all.add((IFn) xform);
        }
    }

    /** Returns whether a reducing function has the arity that completes. A multimethod or a keyword has none that would. */
    public static boolean hasArityOne(Object f) {
        return (arities(f) & 1 << 1) != 0;
    }

    /** Returns the arities of {@code f}, a function: bit 0 is set if it takes no argument, bit 2 if it takes two. */
    public static int arities(Object f) {
        if (f instanceof Var var) return arities(var.deref());
        int arities = ARITIES.get(f.getClass());
        return f instanceof RestFn rest ? arities | -1 << rest.getRequiredArity() : arities;
    }

    /** Returns whether {@code xform} may end the fold because of an element, as {@code take-while} does. */
    static boolean stopsEarly(Object xform) {
        return xform.getClass() == TAKE_WHILE;
    }

    /**
     * Returns whether {@code xform} needs its elements in order.
     *
     * @param made the result of {@code xform} for {@code next}
     */
    static boolean isOrderDependent(IFn xform, Object made, Object next) {
        // halt-when keeps no state, but its result replaces the value of the whole fold.
        return xform.getClass() == HALT_WHEN || differs(made, xform.invoke(next), next, 0);
    }

    /** Returns whether two functions made in the same way hold objects that they do not share. */
    private static boolean differs(Object one, Object two, Object next, int depth) {
        if (one == two || one == next && two == next) return false;
        if (one == null || two == null || one.getClass() != two.getClass()) return true;
        if (one instanceof Number || one instanceof String || one instanceof Boolean || one instanceof Character) {
            return one instanceof AtomicLong || one instanceof AtomicInteger || !one.equals(two);
        }
        if (!(one instanceof IFn) || one instanceof IPersistentCollection || depth == MAX_DEPTH) return true;
        // A closure's fields are not final either, but no code can set them.
        boolean closure = one instanceof Fn || Internals.isReify(one.getClass());
        for (Field field : FIELDS.get(one.getClass())) {
            if (field == null || !closure && !Modifier.isFinal(field.getModifiers())) return true;
            if (differs(get(field, one), get(field, two), next, depth + 1)) return true;
        }
        return false;
    }
}
