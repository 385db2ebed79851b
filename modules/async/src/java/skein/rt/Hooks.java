// SPDX-License-Identifier: Apache-2.0
package skein.rt;

/**
 * What an installed {@link Probe} and an installed {@link Conveyor} add to the life of a frame. While neither
 * is installed there is no Hooks object, and a frame pays one null check for each event.
 */
final class Hooks {
  static final Probe NO_PROBE = new Probe() {};

  final Probe probe;
  final Conveyor conveyor; // or null

  Hooks(Probe probe, Conveyor conveyor) {
    this.probe = probe;
    this.conveyor = conveyor;
  }

  /** Returns the context for {@code frame} to carry. */
  Object spawned(Frame frame) {
    probe.spawned(frame);
    return conveyor == null ? null : conveyor.capture();
  }

  /** Returns what {@link #suspended} must be given. */
  Object resumed(Frame frame, Object context) {
    Object outer = conveyor == null ? null : conveyor.install(context);
    probe.resumed(frame);
    return outer;
  }

  void parking(Frame frame, int state, Object port) {
    probe.parking(frame, state, port);
  }

  void finished(Frame frame, Object value) {
    probe.finished(frame, value);
  }

  void failed(Frame frame, Throwable thrown) {
    probe.failed(frame, thrown);
  }

  void handedOff(WorkerRunner runner) {
    probe.handedOff(runner.frame, runner.thread);
  }

  void suspended(Object outer) {
    if (conveyor != null) conveyor.restore(outer);
  }
}
