// LeakSanitizer calls this function. Both libraries lose small blocks after errors in damaged files;
// the tests that read whole files run without a leak and without these lines.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libhdf5\n"
         "leak:vtkArrayIteratorTemplate\n"
         "leak:vtkXMLUnstructuredDataReader::ReadXMLData\n";
}
