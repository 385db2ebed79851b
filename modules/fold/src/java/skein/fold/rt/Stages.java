// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.AFn;
import clojure.lang.AFunction;
import clojure.lang.Fn;
import clojure.lang.IFn;
import clojure.lang.Keyword;
import clojure.lang.MultiFn;
import clojure.lang.RT;
import clojure.lang.RestFn;
import clojure.lang.Symbol;
import clojure.lang.Var;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What can be known about transducers, which are opaque functions.
 *
 * <p>A composition made by {@code comp} is taken apart by its fields. Whether a transducer keeps state is seen by applying
 * it to a step twice: what either reducing function closes over and the other does not, down through the functions that it
 * closes over, is state of its own; so is a field that can be set. State that both share, such as an atom for statistics, was
 * there before; to make that safe for several threads is its owner's affair.
 */
public final class Stages {
  private static final IFn IDENTITY = new AFn() { };
  /** What comp returns: of more than two functions a composition of compositions. */
  private static final Class<?> COMPOSITION = ((IFn) RT.var("clojure.core", "comp").deref()).invoke(IDENTITY, IDENTITY).getClass();
  // Constants, so that reading costs no more than in the function itself; null: this Clojure composes in another way.
  private static final MethodHandle FIRST = part("f");
  private static final MethodHandle SECOND = part("g");
  private static final int MAX_DEPTH = 8;

  /** The fields of a class that hold an instance's state. */
  private static final ClassValue<Field[]> FIELDS = new ClassValue<>() {
    @Override
    protected Field[] computeValue(Class<?> type) {
      List<Field> fields = new ArrayList<>();
      for (Class<?> c = type; c != null && c != AFunction.class && c != AFn.class && c != RestFn.class; c = c.getSuperclass()) {
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
      for (Class<?> c = type; c != null && c != AFunction.class && c != AFn.class && c != RestFn.class; c = c.getSuperclass()) {
        for (var method : c.getDeclaredMethods()) {
          if (method.getName().equals("invoke") && method.getParameterCount() <= 2) arities |= 1 << method.getParameterCount();
        }
      }
      return isLookup(type) ? arities & ~(1 << 1) : arities;
    }
  };

  /** Whether a class's arity of one means something else than completion. */
  private static boolean isLookup(Class<?> type) {
    return Stream.of(Keyword.class, Symbol.class, Collection.class, Map.class, MultiFn.class).anyMatch(c -> c.isAssignableFrom(type));
  }

  private Stages() { }

  private static Field accessible(Field field) {
    try {
      field.setAccessible(true);
    } catch (InaccessibleObjectException e) {
      return null;  // a class of the JDK: it is no function of ours to look into
    }
    return field;
  }

  private static MethodHandle part(String name) {
    try {
      MethodHandle getter = MethodHandles.privateLookupIn(COMPOSITION, MethodHandles.lookup()).findGetter(COMPOSITION, name, Object.class);
      return getter.asType(MethodType.methodType(Object.class, Object.class));
    } catch (ReflectiveOperationException e) {
      return null;
    }
  }

  private static Object get(Field field, Object of) {
    try {
      return field.get(of);
    } catch (IllegalAccessException e) {
      throw new AssertionError(e);
    }
  }

  /** The value of the field {@code name} of {@code holder}'s class, such as what a function closes over; or null. */
  static Object closedOver(Object holder, String name) {
    for (Field field : FIELDS.get(holder.getClass())) {
      if (field != null && field.getName().equals(name)) return get(field, holder);
    }
    return null;
  }

  /** The transducers that {@code xform} is composed of, in the order that elements meet them. */
  public static IFn[] of(IFn xform) {
    IFn[] all = new IFn[count(xform)];
    flatten(xform, all, 0);
    return all;
  }

  private static boolean isComposition(Object xform) {
    return xform.getClass() == COMPOSITION && FIRST != null && SECOND != null;
  }

  private static int count(Object xform) {
    return isComposition(xform) ? count(part(FIRST, xform)) + count(part(SECOND, xform)) : 1;
  }

  /** Puts the parts of {@code xform} into {@code all}, from {@code at} on; returns the index after the last one. */
  private static int flatten(Object xform, IFn[] all, int at) {
    if (isComposition(xform)) return flatten(part(SECOND, xform), all, flatten(part(FIRST, xform), all, at));
    all[at] = (IFn) xform;
    return at + 1;
  }

  private static Object part(MethodHandle getter, Object composition) {
    try {
      return (Object) getter.invokeExact(composition);
    } catch (Throwable t) {  // a getter of what it is for throws nothing
      throw new AssertionError(t);
    }
  }

  /** Whether a reducing function has the arity that completes. A multimethod or a keyword has none that would. */
  public static boolean hasArityOne(Object f) {
    return (arities(f) & 1 << 1) != 0;
  }

  /** How many arguments {@code f}, a function, takes: bit 0 says whether none, bit 2 whether two. */
  public static int arities(Object f) {
    if (f instanceof Var var) return arities(var.deref());
    int arities = ARITIES.get(f.getClass());
    return f instanceof RestFn rest ? arities | -1 << rest.getRequiredArity() : arities;
  }

  /** Whether {@code xform} stops early by what one element is, as {@code take-while} does. */
  static boolean stopsEarly(Object xform) {
    return xform.getClass().getName().startsWith("clojure.core$take_while$");
  }

  /**
   * Whether {@code xform} has to see its elements one after the other.
   *
   * @param made what {@code xform} made of {@code next}
   */
  static boolean isOrderDependent(IFn xform, Object made, Object next) {
    // halt-when keeps no state, but what it returns takes the place of the whole fold's value.
    return xform.getClass().getName().startsWith("clojure.core$halt_when$")
        || differs(made, xform.invoke(next), next, 0);
  }

  /** Whether two functions made alike hold something that is each one's own. */
  private static boolean differs(Object one, Object two, Object next, int depth) {
    if (one == two || one == next && two == next) return false;
    if (one == null || two == null || one.getClass() != two.getClass()) return true;
    if (one instanceof Number || one instanceof String || one instanceof Boolean || one instanceof Character) {
      return one instanceof java.util.concurrent.atomic.AtomicLong
          || one instanceof java.util.concurrent.atomic.AtomicInteger || !one.equals(two);
    }
    if (!(one instanceof IFn) || one instanceof clojure.lang.IPersistentCollection || depth == MAX_DEPTH) return true;
    // A closure's fields are not final either, but nobody can set them.
    boolean closure = one instanceof Fn || one.getClass().getName().contains("$reify__");
    for (Field field : FIELDS.get(one.getClass())) {
      if (field == null || !closure && !Modifier.isFinal(field.getModifiers())) return true;
      if (differs(get(field, one), get(field, two), next, depth + 1)) return true;
    }
    return false;
  }
}
