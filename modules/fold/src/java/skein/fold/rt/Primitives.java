// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.IFn;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Makes chains for elements that are not boxed, as far as the chain's functions are hinted or known: maps and filters at its
 * beginning, and its step. What follows them gets boxed elements.
 *
 * <p>Each kind of chain, which is a list of templates and of the functions' classes, has copies of the templates of its own, up
 * to {@link #MAX_KINDS} kinds; more kinds share the originals and are slower.
 */
public final class Primitives {
  private static final int MAX_KINDS = 200;
  /** From fewer elements nothing is to be gained. */
  static final int MIN_ELEMENTS = 256;
  private static final String CORE = "clojure.core$";

  private static final Map<IFn, IFn[]> KNOWN = new ConcurrentHashMap<>();
  private static final Set<IFn> CHOOSING = ConcurrentHashMap.newKeySet();
  private static final Map<List<Object>, MethodHandle[]> KINDS = new ConcurrentHashMap<>();

  private Primitives() { }

  /** Says that {@code hinted} functions do what {@code f} does, for the arguments that they take. */
  public static void know(IFn f, List<IFn> hinted) {
    KNOWN.put(f, hinted.toArray(new IFn[0]));
  }

  /** As {@link #know}, of an {@code f} that returns one of its arguments as it is, be it boxed as a long or as an int. */
  public static void knowChoosing(IFn f, List<IFn> hinted) {
    know(f, hinted);
    CHOOSING.add(f);
  }

  /** {@code f} as a function of a primitive interface, or null. */
  private static <T> IFn as(Object f, Class<T> type) {
    if (type.isInstance(f)) return (IFn) f;
    IFn[] known = KNOWN.get(f);
    if (known == null) return null;
    for (IFn hinted : known) if (type.isInstance(hinted)) return hinted;
    return null;
  }

  /** One place of a chain: a template and the function that it calls. */
  private record Place(Class<? extends Sink> template, IFn f) { }

  /**
   * The step for unboxed elements, or null if there would be nothing primitive about it.
   *
   * @param doubles whether the elements are doubles, else longs
   * @param exact whether boxing an element as a long or double is what a boxed element would be
   */
  static PrimitiveStep stepFor(Plan plan, IFn[] steps, boolean doubles, boolean exact) {
    List<Place> places = new ArrayList<>();
    boolean d = doubles;
    int i = 0;
    for (Place place; i < plan.stageCount() && (place = stage(plan.stage(i), d)) != null; i++) {
      places.add(place);
      if (place.template == Sink.MapLD.class) d = true;
      if (place.template == Sink.MapDL.class) d = false;
    }
    Place last = i == plan.stageCount() ? lastStep(plan.rawStep(), d) : null;
    Class<?> accType = null;
    boolean boxingMatters = !exact && !mapped(places);
    if (last != null) {
      if (boxingMatters && CHOOSING.contains(plan.rawStep())) return null;
      accType = accType(last.template);
    } else {
      if (places.isEmpty() || boxingMatters) return null;
      last = new Place(Sink.Boxed.class, null);
    }
    places.add(last);
    return build(places, new IFn[] {steps[i]}, steps[0], accType);
  }

  /** Whether what leaves the stages has been made by a function: then it does not matter what kind of number went in. */
  private static boolean mapped(List<Place> places) {
    return places.stream().anyMatch(p -> p.template.getSimpleName().startsWith("Map"));
  }

  private static Place stage(IFn stage, boolean d) {
    String name = stage.getClass().getName();
    if (name.startsWith(CORE + "map$fn__")) {
      Object f = Stages.closedOver(stage, "f");
      return d ? first(f, IFn.DD.class, Sink.MapDD.class, IFn.DL.class, Sink.MapDL.class)
          : first(f, IFn.LL.class, Sink.MapLL.class, IFn.LD.class, Sink.MapLD.class);
    }
    if (!name.startsWith(CORE + "filter$fn__")) return null;
    Object test = Stages.closedOver(stage, "pred");
    boolean remove = test != null && test.getClass().getName().startsWith(CORE + "complement$fn__");
    if (remove) test = Stages.closedOver(test, "f");
    return d ? first(test, IFn.DO.class, remove ? Sink.RemoveD.class : Sink.FilterD.class, null, null)
        : first(test, IFn.LO.class, remove ? Sink.RemoveL.class : Sink.FilterL.class, null, null);
  }

  private static Place lastStep(IFn step, boolean d) {
    Place place = d ? first(step, IFn.DDD.class, Sink.StepDDD.class, IFn.LDL.class, Sink.StepLDL.class)
        : first(step, IFn.LLL.class, Sink.StepLLL.class, IFn.DLD.class, Sink.StepDLD.class);
    if (place != null) return place;
    return d ? first(step, IFn.ODO.class, Sink.StepODO.class, null, null)
        : first(step, IFn.OLO.class, Sink.StepOLO.class, null, null);
  }

  /** The place of {@code f} as a function of the first of two primitive types that it has; null if it has neither. */
  private static Place first(
      Object f, Class<?> type, Class<? extends Sink> template, Class<?> type2, Class<? extends Sink> template2) {
    if (f == null) return null;
    IFn hinted = as(f, type);
    if (hinted != null) return new Place(template, hinted);
    hinted = type2 == null ? null : as(f, type2);
    return hinted == null ? null : new Place(template2, hinted);
  }

  private static Class<?> accType(Class<? extends Sink> template) {
    if (template == Sink.StepLLL.class || template == Sink.StepLDL.class) return Long.class;
    if (template == Sink.StepDDD.class || template == Sink.StepDLD.class) return Double.class;
    return null;
  }

  private static PrimitiveStep build(List<Place> places, IFn[] rest, IFn boxed, Class<?> accType) {
    List<Object> kind = new ArrayList<>(2 * places.size());
    for (Place place : places) {
      kind.add(place.template);
      kind.add(place.f == null ? rest[0].getClass() : place.f.getClass());
    }
    MethodHandle[] constructors = KINDS.get(kind);
    if (constructors == null) {
      boolean room = KINDS.size() < MAX_KINDS;
      constructors = room ? KINDS.computeIfAbsent(kind, k -> load(places, true)) : load(places, false);
    }
    try {
      Sink sink = null;
      for (int i = places.size() - 1; i >= 0; i--) sink = (Sink) constructors[i].invoke(sink, places.get(i).f, rest);
      return new PrimitiveStep(boxed, sink, (PrimitiveLoop) constructors[places.size()].invoke(), accType);
    } catch (Throwable t) {
      throw Sneaky.raise(t);
    }
  }

  /** The constructors of the templates at {@code places}, and of the loop; of copies of their own or of the originals. */
  private static MethodHandle[] load(List<Place> places, boolean copies) {
    MethodType ofSink = MethodType.methodType(void.class, Sink.class, IFn.class, IFn[].class);
    MethodHandle[] constructors = new MethodHandle[places.size() + 1];
    try {
      for (int i = 0; i < places.size(); i++) constructors[i] = constructor(places.get(i).template, ofSink, copies);
      constructors[places.size()] = constructor(PrimitiveLoop.Template.class, MethodType.methodType(void.class), copies);
      return constructors;
    } catch (ReflectiveOperationException | IOException e) {
      throw new AssertionError(e);
    }
  }

  private static MethodHandle constructor(Class<?> template, MethodType type, boolean copy)
      throws ReflectiveOperationException, IOException {
    MethodHandles.Lookup lookup = MethodHandles.lookup();
    if (!copy) return lookup.findConstructor(template, type);
    String file = template.getName().substring(template.getPackageName().length() + 1) + ".class";
    try (InputStream in = template.getResourceAsStream(file)) {
      // Without the class files at hand, as in a native image, the originals have to do.
      if (in == null) return lookup.findConstructor(template, type);
      MethodHandles.Lookup hidden = lookup.defineHiddenClass(in.readAllBytes(), true);
      return hidden.findConstructor(hidden.lookupClass(), type);
    }
  }
}
