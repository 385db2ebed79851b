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
 * What can be known about transducers, which are opaque functions.
 *
 * <p>A composition made by {@code comp} is taken apart by its fields. Whether a transducer keeps state is seen by applying
 * it to a step twice: what one reducing function closes over and the other does not, down through the functions that it
 * closes over, is state of its own; so is a field that can be set. State that both share, such as an atom for statistics, was
 * there before; its owner makes it safe for several threads.
 */
public final class Stages {
    private static final IFn IDENTITY = new AFn() {};
    private static final Class<?> TAKE_WHILE =
            core("take-while").invoke(IDENTITY).getClass();
    private static final Class<?> HALT_WHEN = core("halt-when").invoke(IDENTITY).getClass();
    private static final int MAX_DEPTH = 8;

    /** The fields of a class that hold an instance's state; null for one that can't be looked into. */
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

    /** How many arguments, up to two, an instance of a class takes besides those of a RestFn: bit n says whether n. */
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

    /** Returns whether a class's arity of one looks something up rather than completes. */
    private static boolean isLookup(Class<?> type) {
        return Stream.of(Keyword.class, Symbol.class, Collection.class, Map.class, MultiFn.class)
                .anyMatch(c -> c.isAssignableFrom(type));
    }

    private static Field accessible(Field field) {
        try {
            field.setAccessible(true);
            return field;
        } catch (InaccessibleObjectException e) {
            return null; // of a class of the JDK
        }
    }

    private static Object get(Field field, Object of) {
        try {
            return field.get(of);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }

    /** Returns the transducers that {@code xform} is composed of, in the order in which elements meet them. */
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

    /** Returns how many arguments {@code f}, a function, takes: bit 0 says whether none, bit 2 whether two. */
    public static int arities(Object f) {
        if (f instanceof Var var) return arities(var.deref());
        int arities = ARITIES.get(f.getClass());
        return f instanceof RestFn rest ? arities | -1 << rest.getRequiredArity() : arities;
    }

    /** Returns whether {@code xform} ends the fold by what one element is, as {@code take-while} does. */
    static boolean stopsEarly(Object xform) {
        return xform.getClass() == TAKE_WHILE;
    }

    /**
     * Returns whether {@code xform} has to see its elements one after the other.
     *
     * @param made what {@code xform} made of {@code next}
     */
    static boolean isOrderDependent(IFn xform, Object made, Object next) {
        // halt-when keeps no state, but what it returns takes the place of the whole fold's value.
        return xform.getClass() == HALT_WHEN || differs(made, xform.invoke(next), next, 0);
    }

    /** Returns whether two functions made alike hold something that is each one's own. */
    private static boolean differs(Object one, Object two, Object next, int depth) {
        if (one == two || one == next && two == next) return false;
        if (one == null || two == null || one.getClass() != two.getClass()) return true;
        if (one instanceof Number || one instanceof String || one instanceof Boolean || one instanceof Character) {
            return one instanceof AtomicLong || one instanceof AtomicInteger || !one.equals(two);
        }
        if (!(one instanceof IFn) || one instanceof IPersistentCollection || depth == MAX_DEPTH) return true;
        // A closure's fields are not final either, but nobody can set them.
        boolean closure = one instanceof Fn || Internals.isReify(one.getClass());
        for (Field field : FIELDS.get(one.getClass())) {
            if (field == null || !closure && !Modifier.isFinal(field.getModifiers())) return true;
            if (differs(get(field, one), get(field, two), next, depth + 1)) return true;
        }
        return false;
    }
}
