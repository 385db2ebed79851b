// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.IFn;
import clojure.lang.Reduced;

/**
 * The stages of a chain for elements that are not boxed. Each gives what it lets through to the next; the last one holds the
 * accumulator, which is taken out at the end of a block.
 *
 * <p>These classes are templates: {@link Primitives} loads each anew for each kind of chain, so that the JIT compiler sees, in
 * every copy, calls of one class only, and makes one loop of them.
 */
abstract class Sink {
  /** Takes an element; whether to go on. */
  boolean accept(long x) {
    throw new AssertionError();
  }

  /** Takes an element; whether to go on. */
  boolean accept(double x) {
    throw new AssertionError();
  }

  /** Puts an accumulator into the last stage. */
  abstract void set(Object acc);

  /** Takes the accumulator out of the last stage. */
  abstract Object get();

  /** A stage with another one behind it. */
  abstract static class Through extends Sink {
    final Sink next;

    Through(Sink next) {
      this.next = next;
    }

    @Override
    void set(Object acc) {
      next.set(acc);
    }

    @Override
    Object get() {
      return next.get();
    }
  }

  /** Maps long to long. */
  static final class MapLL extends Through {
    private final IFn.LL f;

    MapLL(Sink next, IFn f, IFn[] rest) {
      super(next);
      this.f = (IFn.LL) f;
    }

    @Override
    boolean accept(long x) {
      return next.accept(f.invokePrim(x));
    }
  }

  /** Maps long to double. */
  static final class MapLD extends Through {
    private final IFn.LD f;

    MapLD(Sink next, IFn f, IFn[] rest) {
      super(next);
      this.f = (IFn.LD) f;
    }

    @Override
    boolean accept(long x) {
      return next.accept(f.invokePrim(x));
    }
  }

  /** Maps double to long. */
  static final class MapDL extends Through {
    private final IFn.DL f;

    MapDL(Sink next, IFn f, IFn[] rest) {
      super(next);
      this.f = (IFn.DL) f;
    }

    @Override
    boolean accept(double x) {
      return next.accept(f.invokePrim(x));
    }
  }

  /** Maps double to double. */
  static final class MapDD extends Through {
    private final IFn.DD f;

    MapDD(Sink next, IFn f, IFn[] rest) {
      super(next);
      this.f = (IFn.DD) f;
    }

    @Override
    boolean accept(double x) {
      return next.accept(f.invokePrim(x));
    }
  }

  /** Lets longs through for which a predicate is true. */
  static final class FilterL extends Through {
    private final IFn.LO test;

    FilterL(Sink next, IFn test, IFn[] rest) {
      super(next);
      this.test = (IFn.LO) test;
    }

    @Override
    boolean accept(long x) {
      Object r = test.invokePrim(x);
      return r == null || r == Boolean.FALSE || next.accept(x);
    }
  }

  /** Lets doubles through for which a predicate is true. */
  static final class FilterD extends Through {
    private final IFn.DO test;

    FilterD(Sink next, IFn test, IFn[] rest) {
      super(next);
      this.test = (IFn.DO) test;
    }

    @Override
    boolean accept(double x) {
      Object r = test.invokePrim(x);
      return r == null || r == Boolean.FALSE || next.accept(x);
    }
  }

  /** Lets longs through for which a predicate is false. */
  static final class RemoveL extends Through {
    private final IFn.LO test;

    RemoveL(Sink next, IFn test, IFn[] rest) {
      super(next);
      this.test = (IFn.LO) test;
    }

    @Override
    boolean accept(long x) {
      Object r = test.invokePrim(x);
      return r == null || r == Boolean.FALSE ? next.accept(x) : true;
    }
  }

  /** Lets doubles through for which a predicate is false. */
  static final class RemoveD extends Through {
    private final IFn.DO test;

    RemoveD(Sink next, IFn test, IFn[] rest) {
      super(next);
      this.test = (IFn.DO) test;
    }

    @Override
    boolean accept(double x) {
      Object r = test.invokePrim(x);
      return r == null || r == Boolean.FALSE ? next.accept(x) : true;
    }
  }

  /** Steps from long and long to long. */
  static final class StepLLL extends Sink {
    private final IFn.LLL step;
    private long acc;

    StepLLL(Sink next, IFn step, IFn[] rest) {
      this.step = (IFn.LLL) step;
    }

    @Override
    boolean accept(long x) {
      acc = step.invokePrim(acc, x);
      return true;
    }

    @Override
    void set(Object acc) {
      this.acc = (Long) acc;
    }

    @Override
    Object get() {
      return acc;
    }
  }

  /** Steps from double and long to double. */
  static final class StepDLD extends Sink {
    private final IFn.DLD step;
    private double acc;

    StepDLD(Sink next, IFn step, IFn[] rest) {
      this.step = (IFn.DLD) step;
    }

    @Override
    boolean accept(long x) {
      acc = step.invokePrim(acc, x);
      return true;
    }

    @Override
    void set(Object acc) {
      this.acc = (Double) acc;
    }

    @Override
    Object get() {
      return acc;
    }
  }

  /** Steps from double and double to double. */
  static final class StepDDD extends Sink {
    private final IFn.DDD step;
    private double acc;

    StepDDD(Sink next, IFn step, IFn[] rest) {
      this.step = (IFn.DDD) step;
    }

    @Override
    boolean accept(double x) {
      acc = step.invokePrim(acc, x);
      return true;
    }

    @Override
    void set(Object acc) {
      this.acc = (Double) acc;
    }

    @Override
    Object get() {
      return acc;
    }
  }

  /** Steps from long and double to long. */
  static final class StepLDL extends Sink {
    private final IFn.LDL step;
    private long acc;

    StepLDL(Sink next, IFn step, IFn[] rest) {
      this.step = (IFn.LDL) step;
    }

    @Override
    boolean accept(double x) {
      acc = step.invokePrim(acc, x);
      return true;
    }

    @Override
    void set(Object acc) {
      this.acc = (Long) acc;
    }

    @Override
    Object get() {
      return acc;
    }
  }

  /** Steps from object and long to object. */
  static final class StepOLO extends Sink {
    private final IFn.OLO step;
    private Object acc;

    StepOLO(Sink next, IFn step, IFn[] rest) {
      this.step = (IFn.OLO) step;
    }

    @Override
    boolean accept(long x) {
      return !((acc = step.invokePrim(acc, x)) instanceof Reduced);
    }

    @Override
    void set(Object acc) {
      this.acc = acc;
    }

    @Override
    Object get() {
      return acc;
    }
  }

  /** Steps from object and double to object. */
  static final class StepODO extends Sink {
    private final IFn.ODO step;
    private Object acc;

    StepODO(Sink next, IFn step, IFn[] rest) {
      this.step = (IFn.ODO) step;
    }

    @Override
    boolean accept(double x) {
      return !((acc = step.invokePrim(acc, x)) instanceof Reduced);
    }

    @Override
    void set(Object acc) {
      this.acc = acc;
    }

    @Override
    Object get() {
      return acc;
    }
  }

  /** Boxes what has come so far for the rest of the chain, whose first function is {@code rest[0]}. */
  static final class Boxed extends Sink {
    private final IFn rest;
    private Object acc;

    Boxed(Sink next, IFn f, IFn[] rest) {
      this.rest = rest[0];
    }

    @Override
    boolean accept(long x) {
      return !((acc = rest.invoke(acc, x)) instanceof Reduced);
    }

    @Override
    boolean accept(double x) {
      return !((acc = rest.invoke(acc, x)) instanceof Reduced);
    }

    @Override
    void set(Object acc) {
      this.acc = acc;
    }

    @Override
    Object get() {
      return acc;
    }
  }
}
