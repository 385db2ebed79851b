// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What a fold did, written down while it runs. Safe for use by any number of threads. */
public final class Trace {
  /** What one strand did. Written by its owner, read when the fold is over. */
  public static final class Piece {
    /** Where its first block began, in units; -1 if the source has no positions. */
    public final long from;
    /** The thread that ran it. */
    public final String thread = here();
    /** Units done. */
    public long units;
    /** Blocks taken. */
    public long blocks;
    /** Time spent in blocks. */
    public long nanos;

    private Piece(long from) {
      this.from = from;
    }

    void add(long n, long time) {
      units += n;
      blocks++;
      nanos += time;
    }
  }

  private final List<Piece> pieces = new ArrayList<>();  // guarded by this
  private final Set<String> threads = new HashSet<>();   // guarded by this
  private String path = "serial";                        // guarded by this
  private String reason = "";                            // guarded by this

  /** A trace with nothing in it. */
  public Trace() { }

  private static String here() {
    Thread thread = Thread.currentThread();
    return thread.getName().isEmpty() ? thread.toString() : thread.getName();
  }

  synchronized Piece piece(long from) {
    Piece piece = new Piece(from);
    pieces.add(piece);
    threads.add(piece.thread);
    return piece;
  }

  /** The calling thread takes part in a piece that may be another's. */
  synchronized void join() {
    threads.add(here());
  }

  synchronized void path(String path, String reason) {
    this.path = path;
    this.reason = reason;
  }

  /** How the fold ran: serial, parallel or in-order. */
  public synchronized String path() {
    return path;
  }

  /** Why it ran so, as a phrase. */
  public synchronized String reason() {
    return reason;
  }

  /** How many threads took part. */
  public synchronized int threads() {
    return threads.size();
  }

  /** The pieces, in the order in which they were begun. */
  public synchronized List<Piece> pieces() {
    return List.copyOf(pieces);
  }
}
