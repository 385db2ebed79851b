// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

import clojure.lang.IChunk;
import clojure.lang.IChunkedSeq;
import clojure.lang.ISeq;
import clojure.lang.RT;

/** The elements of a sequence, which is realized as they are wanted, and not held on to. */
public final class SeqFeed extends ItemFeed {
  private Object rest;   // the sequence that comes next, or, while in use, that of which the present element or chunk is the first
  private boolean used;  // whether its first element or chunk is in use or has been
  private IChunk chunk;  // null: none
  private int at;        // within the chunk

  /** @param seq anything that {@code seq} takes */
  public SeqFeed(Object seq) {
    rest = seq;
  }

  /** Makes sure that there is a chunk with an element, or that {@code rest} is a seq which isn't chunked; or says no. */
  @Override
  boolean hasItem() {
    if (chunk != null) return true;
    // Not before its first has been handed out: there are seqs for which this means to wait for the next element.
    if (used) rest = rest instanceof IChunkedSeq chunked ? chunked.chunkedMore() : ((ISeq) rest).more();
    used = false;
    ISeq seq = RT.seq(rest);
    rest = seq;
    if (seq == null) return false;
    if (seq instanceof IChunkedSeq chunked) {
      used = true;
      chunk = chunked.chunkedFirst();
      at = 0;
      if (chunk.count() == 0) {
        chunk = null;
        return hasItem();
      }
    }
    return true;
  }

  @Override
  Object item() {
    if (chunk == null) {
      used = true;
      return ((ISeq) rest).first();
    }
    Object x = chunk.nth(at++);
    if (at == chunk.count()) chunk = null;
    return x;
  }
}
