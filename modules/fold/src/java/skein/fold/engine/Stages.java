// SPDX-License-Identifier: Apache-2.0
package skein.fold.engine;

import clojure.lang.AFn;
import clojure.lang.AFunction;
import clojure.lang.IFn;
import clojure.lang.Keyword;
import clojure.lang.MultiFn;
import clojure.lang.RestFn;
import clojure.lang.Symbol;
import clojure.lang.Var;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import skein.base.Internals;

/**
 * Inspects functions: which transducers a composition made by {@code comp} consists of, and how many arguments a function takes.
 */
public final class Stages {
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

    /** Returns whether {@code c} is not one of the classes of Clojure that all functions inherit from. */
    private static boolean isOwn(Class<?> c) {
        return c != null && c != AFunction.class && c != AFn.class && c != RestFn.class;
    }

    /** Returns whether a class's arity of one looks something up instead of completing. */
    private static boolean isLookup(Class<?> type) {
        return Stream.of(Keyword.class, Symbol.class, Collection.class, Map.class, MultiFn.class)
                .anyMatch(c -> c.isAssignableFrom(type));
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
}
