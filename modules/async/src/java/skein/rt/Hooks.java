// SPDX-License-Identifier: Apache-2.0
package skein.rt;

/**
 * What an installed {@link Probe}, an installed {@link Conveyor} and simulations add to the life of a frame. While
 * there is none of these there is no Hooks object, and a frame pays one null check for each event.
 */
final class Hooks {
  static final Probe NO_PROBE = new Probe() {};

  final Probe probe;
  final Conveyor conveyor; // or null
  final boolean worlds; // a simulation is alive

  Hooks(Probe probe, Conveyor conveyor, boolean worlds) {
    this.probe = probe;
    this.conveyor = conveyor;
    this.worlds = worlds;
  }

  /** Returns the context for {@code frame} to carry. */
  Object spawned(Frame frame) {
    probe.spawned(frame);
    Object captured = conveyor == null ? null : conveyor.capture();
    World world = worlds ? World.current() : null;
    World.Member member = world == null ? null : world.spawned(frame);
    if (member == null) return captured;
    member.conveyed = captured;
    return member;
  }

  /** Returns what {@link #suspended} must be given. */
  Object resumed(Frame frame, Object context) {
    Object captured = context instanceof World.Member m ? m.conveyed : context;
    Object outer = conveyor == null ? null : conveyor.install(captured);
    probe.resumed(frame);
    return outer;
  }

  void parking(Frame frame, int state, Object port) {
    probe.parking(frame, state, port);
  }

  void finished(Frame frame, Object value) {
    probe.finished(frame, value);
    ended(frame, null);
  }

  void failed(Frame frame, Throwable thrown) {
    probe.failed(frame, thrown);
    ended(frame, thrown);
  }

  private static void ended(Frame frame, Throwable thrown) {
    if (frame.context() instanceof World.Member m) m.world.ended(m, thrown);
  }

  void handedOff(WorkerRunner runner) {
    probe.handedOff(runner.frame, runner.thread);
  }

  void suspended(Object outer) {
    if (conveyor != null) conveyor.restore(outer);
  }
}
