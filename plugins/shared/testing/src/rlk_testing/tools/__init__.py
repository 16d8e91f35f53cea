"""What tests use besides: processes, faults, files, ranks, states."""
